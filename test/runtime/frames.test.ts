import { describe, expect, it } from 'vitest'
import { encodeFrame, FrameReader, ProtocolViolation } from '../../runtime/frames.ts'

const header = { type: 'items', run: 3 }
const headerText = '{"type":"items","run":3}'

describe('frames', () => {
  it.each([
    ['without a payload', undefined],
    ['with an empty payload', ''],
    ['with line feeds, quotes and every plane of Unicode', 'a\n"b"\n🦊é\u2028'],
    ['with a payload of a megabyte', 'x'.repeat(1_000_000)],
  ])('%s come out as they went in', (_title, payload) => {
    expect(new FrameReader(2_000_000).push(encodeFrame(header, payload))).toEqual([{ header: headerText, payload }])
  })

  it.each([1, 2, 3, 5, 7, 64])('come out whole from chunks of %i bytes', (size) => {
    const bytes = Buffer.concat([encodeFrame(header, '[1]'), encodeFrame(header), encodeFrame(header, '["é"]')])
    const reader = new FrameReader(1_000)
    const frames = []
    for (let at = 0; at < bytes.length; at += size) frames.push(...reader.push(bytes.subarray(at, at + size)))
    expect(frames.map(({ payload }) => payload)).toEqual(['[1]', undefined, '["é"]'])
  })

  it('of exactly the largest size pass, one byte more is a violation before its bytes arrive', () => {
    const frame = encodeFrame(header, 'x'.repeat(100))
    expect(new FrameReader(frame.length - 4).push(frame)).toHaveLength(1)
    expect(() => new FrameReader(frame.length - 5).push(frame.subarray(0, 4))).toThrow(ProtocolViolation)
  })

  it('without a header line are a violation', () => {
    const frame = Buffer.alloc(4 + 10_000, 0x78)
    frame.writeUInt32BE(10_000, 0)
    expect(() => new FrameReader(20_000).push(frame)).toThrow('a header of at most 4096 bytes was expected')
  })
})
