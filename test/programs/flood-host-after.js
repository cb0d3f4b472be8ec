const host = (x) => tools.echo({ text: String(x) });
await host("x"); for(;;) host("x")
