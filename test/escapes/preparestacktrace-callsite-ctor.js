let r; Error.prepareStackTrace=(e,f)=>{ r=f[0].constructor.constructor("return typeof process")(); return "" }; new Error().stack; return r
