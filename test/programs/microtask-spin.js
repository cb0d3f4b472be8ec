function bad(){Promise.resolve().then(()=>{bad();for(;;);})} bad(); for(;;);
