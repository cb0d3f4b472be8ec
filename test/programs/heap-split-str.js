"x".repeat(2**28).split("").length
