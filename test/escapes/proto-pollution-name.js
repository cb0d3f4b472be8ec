const tool = (name, args) => tools[name](args);
try { return JSON.stringify(await tool("__proto__",{})) } catch(e){ return e.message }
