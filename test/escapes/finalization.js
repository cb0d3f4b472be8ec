const raw = (text) => tools.echo({ text: String(text) });
let got; const fr=new FinalizationRegistry(v=>{got=v.constructor.constructor("return typeof process")()}); fr.register({}, raw); return "registered"
