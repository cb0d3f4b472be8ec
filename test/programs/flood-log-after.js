const host = (x) => tools.echo({ text: String(x) });
const log = (x) => console.log(x);
await host("x"); for(;;) log("x")
