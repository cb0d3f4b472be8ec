return typeof Function.prototype.toString+String(eval("(function(){return this})()")===globalThis)
