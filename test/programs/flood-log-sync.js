const log = (x) => console.log(x);
for(;;) log("x")
