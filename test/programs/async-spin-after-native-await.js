await null; for(;;);
