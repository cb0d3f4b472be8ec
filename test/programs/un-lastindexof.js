Array.prototype.lastIndexOf.call({length:2**53-1},1)
