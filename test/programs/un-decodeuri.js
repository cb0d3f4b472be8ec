const s="%41".repeat(5e6); for(;;) decodeURIComponent(s)
