const host = (x) => tools.echo({ text: String(x) });
globalThis.fr=new FinalizationRegistry(()=>{for(;;);}); for(let i=0;i<1000;i++) fr.register({},i); let g=[]; for(let i=0;i<2e5;i++) g.push({i}); g=null; for(let i=0;i<50;i++){ await host("x"); let a=[]; for(let j=0;j<1e5;j++) a.push([j]); } return "done"
