import { createHash } from 'node:crypto'
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Ms, UnixMs } from '@parley/kernel'
import { ConversationError } from '../errors.ts'

/** Bytes that a log may have for each hour of the call that has begun. */
const BYTES_PER_HOUR = 1024 * 1024
const HOUR_MS: Ms = 3_600_000
/** Entries are compressed in blocks of about this many characters. */
const BLOCK = 64 * 1024
/** Since format 2 a log says what a model was asked ahead of the end of a turn. */
const FORMAT = 2
const FORMATS: ReadonlySet<number> = new Set([1, FORMAT])

/** What a log says of its run. */
export interface InputLogHeader {
  readonly format: 1 | typeof FORMAT
  /** Versions of the program, its lexicons and the plan, as digests. */
  readonly code: string
  readonly lexicon: string
  readonly plan: string
  readonly kind: 'call' | 'text'
  /** Personal data was replaced by placeholders. */
  readonly redacted: boolean
  readonly seed: number
  readonly startedAt: UnixMs
  readonly startedAtMs: Ms
  /** What the owner needs to begin again: facts of the run, its services. */
  readonly facts: unknown
}

/**
 * One line of a log. An input has its kind, the microseconds since the input before it, flags, and its value: of a timer its deadline, or
 * `[deadline, before]` where `before` others of that deadline were armed before it and fire later. Between two inputs stand
 * what was read (`?`), requests to services (`!`) and digests of decisions (`=`: all, what can be noticed, and the samples of the audio that was sent), in the
 * order in which they happened.
 */
export type LogLine =
  | readonly ['>', string, number, number, unknown]
  | readonly ['?', string, unknown]
  | readonly ['!', string, string]
  | readonly ['=', number, number, number?]
  /** The tracked value, and whether it changed while an input was being handled. */
  | readonly ['o', number | null, number]

/** The input arrived while another one was being handled. */
export const NESTED = 1
/** It arrived when the recogniser was asked for its last words, not when audio was read. */
export const FINALIZED = 4
/** The input followed the one before it in the same turn of the event loop. */
export const JOINED = 2

/** A log as it is read. */
export interface InputLog {
  readonly header: InputLogHeader
  readonly lines: readonly LogLine[]
  /** The log reached its limit: the end of the run is missing. */
  readonly isTruncated: boolean
}

/** Writes the log of one run into memory, compressed in blocks. A `redacted` log has placeholders for all words and keys. */
export class InputLogWriter {
  readonly #header: InputLogHeader
  readonly #blocks: Buffer[] = []
  #waiting: string[] = []
  #waitingSize = 0
  #bytes = 0
  #isTruncated = false

  constructor(header: Omit<InputLogHeader, 'format'>) {
    this.#header = { format: FORMAT, ...header }
  }

  get isTruncated(): boolean {
    return this.#isTruncated
  }

  /** `elapsedMs`: how long the run has lasted. */
  add(line: LogLine, elapsedMs: Ms): void {
    if (this.#isTruncated) return
    const text = JSON.stringify(this.#header.redacted ? withoutWords(line) : line)
    this.#waiting.push(text)
    this.#waitingSize += text.length
    if (this.#waitingSize >= BLOCK) this.#compress(elapsedMs)
  }

  /** The whole log. */
  finish(elapsedMs: Ms): Uint8Array {
    this.#compress(elapsedMs)
    const head = deflateRawSync(JSON.stringify({ ...this.#header, isTruncated: this.#isTruncated }))
    return Buffer.concat([head, ...this.#blocks].flatMap(block => [lengthOf(block), block]))
  }

  #compress(elapsedMs: Ms): void {
    if (this.#waiting.length === 0) return
    const block = deflateRawSync(this.#waiting.join('\n'))
    this.#waiting = []
    this.#waitingSize = 0
    if (this.#bytes + block.length > BYTES_PER_HOUR * Math.max(1, Math.ceil(elapsedMs / HOUR_MS)) - BLOCK / 16)
      this.#isTruncated = true
    else {
      this.#blocks.push(block)
      this.#bytes += block.length
    }
  }
}

/** Throws `input_log_unreadable` for bytes that no writer of this format made. */
export function readInputLog(bytes: Uint8Array): InputLog {
  try {
    const [head, ...blocks] = blocksOf(Buffer.from(bytes)).map(block => inflateRawSync(block).toString())
    const { isTruncated, ...header } = JSON.parse(head!) as InputLogHeader & { isTruncated: boolean }
    if (!FORMATS.has(header.format)) throw new TypeError(`format ${header.format}`)
    return { header, isTruncated, lines: blocks.flatMap(block => block.split('\n').map(line => JSON.parse(line))) }
  } catch (cause) {
    throw new ConversationError('input_log_unreadable', undefined, { cause })
  }
}

/** The digest by which requests are compared. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64')
    .slice(0, 10)
}

/** The digest of decisions so far, with one more. */
export function decisionsWith(decision: unknown, before: number): number {
  return crc32(JSON.stringify(decision) ?? '', before)
}

/** The digest of the audio sent so far, with more of it. */
export function audioWith(audio: Int16Array, before: number): number {
  return crc32(new Uint8Array(audio.buffer, audio.byteOffset, audio.byteLength), before)
}

const PLACEHOLDER = '[redacted]'

/** Times, kinds and lengths stay; what was said, read or answered becomes a placeholder. */
function withoutWords(line: LogLine): LogLine {
  if (line[0] === '>') return [line[0], line[1], line[2], line[3], placeholders(line[4])]
  if (line[0] === '?') return ['?', line[1], placeholders(line[2])]
  return line[0] === '!' ? ['!', line[1], PLACEHOLDER] : line
}

function placeholders(value: unknown): unknown {
  if (typeof value === 'string') return PLACEHOLDER
  if (Array.isArray(value)) return value.map(placeholders)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, name === 'type' ? member : placeholders(member)])
  return Object.fromEntries(members)
}

function lengthOf(block: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(block.length)
  return length
}

function blocksOf(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    blocks.push(bytes.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return blocks
}
