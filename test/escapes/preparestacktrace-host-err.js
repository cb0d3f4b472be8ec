const raw = (text) => tools.echo({ text: String(text) });
let F=[]; Error.prepareStackTrace=(e,f)=>{F=f; return "X"}; try{ await raw("bad") }catch(e){ void e.stack; return "frames:"+F.length+"|"+F.map(f=>typeof f.getThis()+typeof f.getFunction()).join() }
