const a=[]; a[2**32-2]=1; for(;;) a.forEach(Math.abs)
