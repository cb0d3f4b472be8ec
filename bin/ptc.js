#!/usr/bin/env node
// Plain JavaScript that old versions of Node can run, so that a wrong version reads well.
const EXIT_ENVIRONMENT = 3
const NEEDED_MAJOR = 24

if (Number(process.versions.node.split('.')[0]) < NEEDED_MAJOR) {
  console.error(`ptc needs Node ${NEEDED_MAJOR} or later, this is Node ${process.versions.node} (${process.execPath}).`)
  console.error('Install it from https://nodejs.org, or use the one beside this package: npx ptc …')
  process.exitCode = EXIT_ENVIRONMENT
} else {
  import('../dist/src/cli/main.js').then(
    async ({ main }) => {
      process.exitCode = await main(process.argv.slice(2))
    },
    (error) => {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
      console.error(`ptc is not complete here: ${error.message}`)
      console.error('In a checkout run `npm ci` (it builds), elsewhere install the package again.')
      process.exitCode = EXIT_ENVIRONMENT
    },
  )
}
