const m=new WebAssembly.Memory({initial:16384,maximum:65536}); new Uint8Array(m.buffer).fill(1); m.buffer.byteLength
