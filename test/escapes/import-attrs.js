try { return String(await import("/etc/passwd",{with:{type:"json"}})) } catch(e){ return e.message }
