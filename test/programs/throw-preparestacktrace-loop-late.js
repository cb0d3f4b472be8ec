const host = (x) => tools.echo({ text: String(x) });
await host("x"); Error.prepareStackTrace=()=>{for(;;);}; throw new Error("x")
