const host = (x) => tools.echo({ text: String(x) });
await host("x"); Promise.reject(new Error("floating")); await host("y"); return 1
