try { return String(await Function('return import("fs")')()) } catch(e){ return e.message }
