return (function*(){}).constructor("yield typeof process")().next().value
