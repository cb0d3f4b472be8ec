const host = (x) => tools.echo({ text: String(x) });
await host("x"); (function f(){Promise.resolve().then(f)})(); await new Promise(()=>{})
