for(;;) new Array(100).fill(0)
