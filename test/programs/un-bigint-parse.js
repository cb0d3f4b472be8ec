BigInt("9".repeat(3e7))
