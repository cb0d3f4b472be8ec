const host = (x) => tools.echo({ text: String(x) });
const s="x".repeat(2**29-25); return await host(s)
