for(const k in "x".repeat(2**27)) {}
