const raw = (text) => tools.echo({ text: String(text) });
const g=Object.prototype.__lookupGetter__("__proto__"); return String(g.call(raw)===Function.prototype)+String(g.call(g.call(raw))===Object.prototype)
