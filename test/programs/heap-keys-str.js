Object.keys("x".repeat(2**28)).length
