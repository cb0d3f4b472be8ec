const host = (x) => tools.echo({ text: String(x) });
await host("x");const a=[];for(;;) a.push(new Array(1000).fill(1))
