const host = (x) => tools.echo({ text: String(x) });
await host("x"); Atomics.wait(new Int32Array(new SharedArrayBuffer(8)),0,0)
