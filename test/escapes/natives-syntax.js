try { return String(Function('return %GetOptimizationStatus(function(){})')()) } catch(e){ return e.message }
