Array.prototype.sort.call({length:2**32})
