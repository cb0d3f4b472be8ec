return Object.getOwnPropertyNames(console).join()+"|"+console.log.constructor("return typeof process")()+typeof console.context
