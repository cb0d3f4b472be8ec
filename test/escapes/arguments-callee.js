return (function(){ try { return typeof arguments.callee.caller } catch(e){ return e.message } })()
