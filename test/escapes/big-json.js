const raw = (text) => tools.echo({ text: String(text) });
try { return String((await raw('{"name":"len","args":{"s":"'+'x'.repeat(3e6)+'"}}')).length) } catch(e){ return e.message }
