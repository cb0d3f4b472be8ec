const tool = (name, args) => tools[name](args);
const r=await tool("echo",{a:1}); return r.constructor.constructor("return typeof process")()
