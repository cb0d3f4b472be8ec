const raw = (text) => tools.echo({ text: String(text) });
try { return await raw(new String('{"name":"echo","args":{}}')) } catch(e){ return e.message }
