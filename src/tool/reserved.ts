/** The name of the tool that a model calls with a program; nothing else may be registered under it. */
export const RUN_CODE_NAME = 'run_code'
