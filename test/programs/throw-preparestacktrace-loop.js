Error.prepareStackTrace=()=>{for(;;);}; throw new Error("x")
