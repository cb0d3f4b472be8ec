const host = (x) => tools.echo({ text: String(x) });
await host("x"); /^(a+)+$/.test("a".repeat(40)+"b")
