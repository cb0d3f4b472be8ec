for(;;);
