const s="\u0344".repeat(5e6); for(;;) s.localeCompare(s+"x")
