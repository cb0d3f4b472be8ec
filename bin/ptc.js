#!/usr/bin/env node
// Plain JavaScript that old versions of Node can run, so that a wrong version reads well.
const EXIT_USAGE = 2
const EXIT_ENVIRONMENT = 3
const NEEDED_MAJOR = 24

if (Number(process.versions.node.split('.')[0]) < NEEDED_MAJOR) {
  console.error(`ptc needs Node ${NEEDED_MAJOR} or later, this is Node ${process.versions.node} (${process.execPath}).`)
  console.error('Install it from https://nodejs.org; in a checkout, npx ptc uses the one that npm ci installed.')
  process.exitCode = EXIT_ENVIRONMENT
} else {
  process.on('exit', endedTooEarly)
  import('../dist/src/cli/main.js').then(
    async ({ main }) => leave(await main(process.argv.slice(2))),
    (error) => {
      process.off('exit', endedTooEarly)
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
      console.error(`ptc is not complete here: ${error.message}`)
      console.error('In a checkout run `npm ci` (it builds), elsewhere install the package again.')
      process.exitCode = EXIT_ENVIRONMENT
    },
  )
}

/** A tools module may end the process, or wait for something that never comes, before the command is done. */
function endedTooEarly(code) {
  if (code !== 0) return
  console.error('ptc: the command did not finish: a tools module ended the process, or never finished loading')
  process.exitCode = EXIT_USAGE
}

/** Leaves once all output is out, also where a tools module left a timer running. */
function leave(code) {
  process.off('exit', endedTooEarly)
  process.exitCode = code
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}
