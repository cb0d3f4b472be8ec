// The main job on real input: a program joins what the tools say about this repository.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createPtc } from 'ptc-executor'
import { fileHistory, listFiles, readFileLines } from './tools/repository.ts'

const source = await readFile(new URL('./programs/repository-report.ts', import.meta.url), 'utf8')
const ptc = await createPtc({ tools: [listFiles, readFileLines, fileHistory], log: '.ptc/log.db' })

try {
  console.log(`The program:\n\n${source.replaceAll(/^/gm, '    ')}`)
  console.log('What it does:\n')
  const outcome = await ptc.run(source, {
    description: 'Report on the largest source files',
    onEvent(event) {
      if (event.type === 'sub-call-start') console.log(`  → ${event.name} ${JSON.stringify(event.arguments)}`)
      if (event.type === 'sub-call-settle') {
        const { name, isError, durationMs } = event.call
        console.log(
          `  ${isError ? '✗' : '✓'} ${name} ${durationMs} ms${event.message === undefined ? '' : ` ${event.message}`}`,
        )
      }
      if (event.type === 'console') console.log(`  > ${event.text}`)
    },
  })
  console.log(`\nIts result:\n\n${String(outcome.value ?? outcome.error?.message)}`)
  console.log(`\nSee it again: npx ptc log show ${outcome.runId}`)

  assert.equal(outcome.ok, true)
  assert.equal(outcome.calls.length, 17)
  assert.match(String(outcome.value), /commits .* lines {2}src/)
} finally {
  await ptc.close()
}
