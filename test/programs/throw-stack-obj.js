const e=new Error("x"); e.stack={toString(){for(;;);}}; throw e
