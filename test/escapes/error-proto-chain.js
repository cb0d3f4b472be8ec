const tool = (name, args) => tools[name](args);
try{ await tool("throw",{}) }catch(e){ let p=e,o=[]; while(p){ o.push(p===Error.prototype, p===Object.prototype); p=Object.getPrototypeOf(p)} return o.join() }
