/**
 * The child process: takes programs from the pipe on descriptor 3 and runs each in a fresh
 * isolate. It trusts neither side and watches nothing: the host holds every deadline.
 */
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { ChildRun, type SendToHost } from './child-run.ts'
import { GuestIsolate } from './isolate.ts'
import { encodeFrame, type Frame, FrameReader, readHostMessage } from './protocol.ts'

const PIPE = 3
/** Arguments: path of isolated-vm's native part (read by isolate.ts), heap of a spare isolate in MiB, largest frame in bytes. */
const [spareMemoryMb = 128, maxFrameBytes = 0] = process.argv.slice(3).map(Number)
const guestSource = readFileSync(new URL('./guest.js', import.meta.url), 'utf8')
const pipe = new Socket({ fd: PIPE, readable: true, writable: true })
const send: SendToHost = (message, payload) => void pipe.write(encodeFrame(message, payload))

let current: { readonly number: number; readonly run: Promise<ChildRun> } | undefined
let spare: Promise<GuestIsolate> | undefined = makeIsolate(spareMemoryMb)

serve()
await spare
send({ type: 'ready' })

function serve(): void {
  const reader = new FrameReader(maxFrameBytes)
  pipe.on('data', (chunk: Buffer) => {
    for (const frame of reader.push(chunk)) void handle(frame)
  })
  // The host is gone or broke the protocol: there is nobody left to work for.
  pipe.on('close', endProcess)
  pipe.on('error', endProcess)
  process.on('uncaughtException', endProcess)
  process.on('unhandledRejection', endProcess)
}

async function handle({ header, payload = '' }: Frame): Promise<void> {
  const message = readHostMessage(header)
  if (message.type === 'run') {
    current = { number: message.run, run: startRun(message) }
  }
  if (current?.number !== message.run) return
  const { number, run } = current
  const program = await run
  switch (message.type) {
    case 'run':
      program.accept({ name: 'start', payload, seq: message.seq })
      return
    case 'replies':
      program.accept({ name: 'deliver', payload, seq: message.seq })
      return
    case 'end':
      program.end()
      current = undefined
      spare ??= makeIsolate(spareMemoryMb)
      send({ type: 'released', run: number })
  }
}

async function startRun(message: { run: number; memoryMb: number; cpuMs: number }): Promise<ChildRun> {
  const { run, memoryMb, cpuMs } = message
  return new ChildRun({ isolate: await takeIsolate(memoryMb), run, cpuMs, send })
}

function takeIsolate(memoryMb: number): Promise<GuestIsolate> {
  if (spare === undefined || memoryMb !== spareMemoryMb) return makeIsolate(memoryMb)
  const taken = spare
  spare = undefined
  return taken
}

function makeIsolate(memoryMb: number): Promise<GuestIsolate> {
  return GuestIsolate.create({ guestSource, memoryMb, onCatastrophe })
}

/** V8 gave an isolate up; the process is not to be trusted with another step. */
function onCatastrophe(): void {
  if (current !== undefined) send({ type: 'died', run: current.number, reason: 'memory' })
  endProcess()
}

/** Never process.exit(): it hangs or crashes while an isolate runs. */
function endProcess(): void {
  process.kill(process.pid, 'SIGKILL')
}
