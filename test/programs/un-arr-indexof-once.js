new Array(2**32-1).indexOf(1)
