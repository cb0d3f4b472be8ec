const raw = (text) => tools.echo({ text: String(text) });
try{ return await raw.call({a:1},'{"name":"this","args":{}}') }catch(e){ return e.message }
