return [typeof ivm, typeof $0, typeof $1, typeof isolated_vm, typeof Reference, typeof Callback, typeof _ivm].join()
