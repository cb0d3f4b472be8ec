const raw = (text) => tools.echo({ text: String(text) });
return raw.constructor("return typeof process+typeof require+typeof globalThis.__hostCanary")()
