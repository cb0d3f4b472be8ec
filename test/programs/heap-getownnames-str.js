Object.getOwnPropertyNames("x".repeat(2**29-25)).length
