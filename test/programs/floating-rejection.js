Promise.reject(new Error("floating")); return 1
