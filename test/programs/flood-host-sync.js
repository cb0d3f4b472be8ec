const host = (x) => tools.echo({ text: String(x) });
for(;;) host("x")
