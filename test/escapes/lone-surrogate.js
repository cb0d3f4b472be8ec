const raw = (text) => tools.echo({ text: String(text) });
return (await raw('{"name":"len","args":{"s":"\\ud800\\u0000"}}'))
