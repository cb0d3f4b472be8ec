const raw = (text) => tools.echo({ text: String(text) });
let caller; try { raw({get a(){ caller = (function f(){ return f.caller })(); return 1 }}) } catch(e) { return "e:"+e.message } return typeof caller
