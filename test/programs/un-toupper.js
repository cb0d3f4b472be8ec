const s="\u00df".repeat(5e6); for(;;) s.toLocaleUpperCase("de")
