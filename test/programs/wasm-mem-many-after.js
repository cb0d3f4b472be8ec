const host = (x) => tools.echo({ text: String(x) });
await host("x"); const a=[]; for(;;){ try { const m=new WebAssembly.Memory({initial:1024,maximum:1024}); const u=new Uint8Array(m.buffer); for(let i=0;i<u.length;i+=4096) u[i]=1; a.push(m);} catch(e) { await host(e.message) } }
