import { describe, expect, it } from 'vitest'
import { ProtocolViolation, readChildMessage, readGuestItems, readHostMessage } from '../../runtime/protocol.ts'

describe('a message of the child', () => {
  it.each([
    ['{"type":"ready"}', { type: 'ready' }],
    ['{"type":"idle","run":1,"seq":2,"hasTimer":true,"extra":1}', { type: 'idle', run: 1, seq: 2, hasTimer: true }],
    ['{"type":"died","run":1,"reason":"memory"}', { type: 'died', run: 1, reason: 'memory' }],
    ['{"type":"unhandled","run":1,"message":"x"}', { type: 'unhandled', run: 1, message: 'x' }],
  ])('%s is read, extra fields are dropped', (text, message) => {
    expect(readChildMessage(text)).toEqual(message)
  })

  it.each([
    'nothing',
    'null',
    '[]',
    '7',
    '{}',
    '{"type":"run","run":1}',
    '{"type":"items"}',
    '{"type":"items","run":-1}',
    '{"type":"items","run":1.5}',
    '{"type":"items","run":"1"}',
    '{"type":"died","run":1,"reason":"boredom"}',
    '{"type":"unhandled","run":1,"message":{}}',
    '{"__proto__":{"type":"ready"}}',
    '{"type":"idle","run":1}',
  ])('%s is a violation', (text) => {
    expect(() => readChildMessage(text)).toThrow(ProtocolViolation)
  })
})

describe('an item of the guest', () => {
  it.each([
    [
      { type: 'call', id: 1, global: 'tools', name: 'a', args: null, more: 1 },
      { type: 'call', id: 1, global: 'tools', name: 'a', args: null },
    ],
    [
      { type: 'done', value: null },
      { type: 'done', value: null },
    ],
    [{ type: 'done' }, { type: 'done' }],
    [
      { type: 'failed', failure: { kind: 'output-limit', message: 'x', stack: 'y' } },
      { type: 'failed', failure: { kind: 'output-limit', message: 'x' } },
    ],
  ])('%j is read', (item, read) => {
    expect(readGuestItems([item])).toEqual([read])
  })

  it.each([
    [{ type: 'call', id: 1, global: 'tools', name: 'a' }],
    [{ type: 'call', id: 1, global: 'tools', name: 7, args: {} }],
    [{ type: 'call', id: -1, global: 'tools', name: 'a', args: {} }],
    [{ type: 'log', text: 'x' }],
    [{ type: 'failed', failure: { kind: 'exception', message: 'x' } }],
    [{ type: 'failed', failure: { kind: 'exception', message: 'x', name: 'y', stack: 1 } }],
    [{ type: 'failed', failure: null }],
    [{ type: 'toString' }],
    [null],
    ['text'],
  ])('%j is a violation', (item) => {
    expect(() => readGuestItems([item])).toThrow(ProtocolViolation)
  })

  it('comes in an array', () => {
    expect(() => readGuestItems({ 0: { type: 'done' }, length: 1 })).toThrow('an array of items was expected')
  })
})

it.each(['{"type":"run","run":1,"seq":1}', '{"type":"end","run":1}', '{"type":"ready","run":1,"seq":1}', '{'])(
  'the child refuses %s of a host',
  (text) => {
    expect(() => readHostMessage(text)).toThrow(ProtocolViolation)
  },
)
