return await (async()=>{}).constructor("return typeof process+typeof require")()
