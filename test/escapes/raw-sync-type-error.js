const raw = (text) => tools.echo({ text: String(text) });
try{ await raw({toString(){return 1}}) }catch(e){ return e.message+"|"+Object.getOwnPropertyNames(e) }
