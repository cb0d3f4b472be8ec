const tool = (name, args) => tools[name](args);
try{ await tool("throw",{}) }catch(e){ return e.constructor.constructor("return typeof process")()+"|"+(e instanceof Error)+"|"+Object.getOwnPropertyNames(e) }
