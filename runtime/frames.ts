/**
 * Frames on the pipe between host and child: u32 big-endian length, then a header (one line of
 * JSON), and, after a line feed, an optional payload of JSON text that only its addressee parses.
 */

/** The other side broke the protocol; the pipe cannot be used any more. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation'
}

/** One frame as it came off the wire; both parts are untrusted text. */
export interface Frame {
  readonly header: string
  readonly payload: string | undefined
}

const LENGTH_BYTES = 4
const LINE_FEED = 0x0a
/** Headers are short by design; a longer one is not a header. */
const MAX_HEADER_BYTES = 4_096

/** Encodes one frame; `payload` is spliced in as it is. */
export function encodeFrame(header: object, payload?: string): Buffer {
  const head = JSON.stringify(header)
  const headBytes = Buffer.byteLength(head)
  const payloadBytes = payload === undefined ? 0 : 1 + Buffer.byteLength(payload)
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + headBytes + payloadBytes)
  frame.writeUInt32BE(headBytes + payloadBytes, 0)
  frame.write(head, LENGTH_BYTES)
  if (payload !== undefined) {
    frame[LENGTH_BYTES + headBytes] = LINE_FEED
    frame.write(payload, LENGTH_BYTES + headBytes + 1)
  }
  return frame
}

/** Cuts a byte stream into frames and refuses one that is longer than it may be. */
export class FrameReader {
  readonly #maxFrameBytes: number
  #chunks: Buffer[] = []
  #buffered = 0

  /** @param maxFrameBytes largest header and payload together. */
  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes
  }

  /**
   * Takes the next bytes and returns the frames that they complete.
   * @throws ProtocolViolation on a length over the limit or a frame without a header.
   */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk)
    this.#buffered += chunk.length
    const frames: Frame[] = []
    for (;;) {
      const length = this.#nextLength()
      if (length === undefined || this.#buffered < LENGTH_BYTES + length) return frames
      const bytes = this.#take(LENGTH_BYTES + length)
      frames.push(split(bytes.subarray(LENGTH_BYTES)))
    }
  }

  #nextLength(): number | undefined {
    if (this.#buffered < LENGTH_BYTES) return undefined
    const first = this.#chunks[0]
    if (first === undefined) return undefined
    const head = first.length >= LENGTH_BYTES ? first : this.#joined()
    const length = head.readUInt32BE(0)
    if (length > this.#maxFrameBytes) {
      throw new ProtocolViolation(
        `a frame of at most ${this.#maxFrameBytes} bytes was expected, ${length} were announced`,
      )
    }
    return length
  }

  #take(length: number): Buffer {
    const all = this.#joined()
    const rest = all.subarray(length)
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#buffered = rest.length
    return all.subarray(0, length)
  }

  #joined(): Buffer {
    const [first] = this.#chunks
    const all = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks)
    this.#chunks = [all]
    return all
  }
}

function split(bytes: Buffer): Frame {
  const lineFeed = bytes.subarray(0, MAX_HEADER_BYTES + 1).indexOf(LINE_FEED)
  if (lineFeed === -1 && bytes.length > MAX_HEADER_BYTES) {
    throw new ProtocolViolation(`a header of at most ${MAX_HEADER_BYTES} bytes was expected`)
  }
  return lineFeed === -1
    ? { header: bytes.toString('utf8'), payload: undefined }
    : { header: bytes.toString('utf8', 0, lineFeed), payload: bytes.toString('utf8', lineFeed + 1) }
}
