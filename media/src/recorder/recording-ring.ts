import { type AudioFormat, NARROWBAND, type SampleRateHz, type Samples } from '@parley/kernel'
import { encodePcmu } from '../codec/g711.ts'
import { MediaError } from '../errors.ts'
import { allocateCallMemory } from '../page/call-memory.ts'
import {
  CAPACITY,
  END,
  HEADER_BYTES,
  HEADER_WORDS,
  LEFT_PUBLISHED,
  OVERRUN,
  READ,
  RecordingChannel,
  RIGHT_PUBLISHED,
  SAMPLE_RATE,
} from './recording-channel.ts'

/** Least time that a channel holds: enough for a disk that stalls for three flushes of the writer. */
const HELD_SECONDS = 2
const SILENCE = 0xff
/** A channel that is further behind the other than this counts as silent. */
const MAX_LAG_SECONDS = 1
/** The same for a channel that has not begun: its first packet has no earlier place than that of its arrival. */
const MAX_START_LAG_SECONDS = 0.25

const NO_END = -1
/** Memory of one thread for a block of each channel. */
const BLOCKS: [Uint8Array, Uint8Array] = [new Uint8Array(0), new Uint8Array(0)]

/**
 * A recording's shared memory, for mono audio of `format` in each channel. `capacity`: bytes per channel, a power of two
 * of at least 1024; default 2 s.
 */
export function allocateRecordingRing(
  { sampleRateHz }: AudioFormat = NARROWBAND,
  capacity = 2 ** Math.ceil(Math.log2(HELD_SECONDS * sampleRateHz)),
): SharedArrayBuffer {
  if (!Number.isInteger(capacity) || capacity < 1024 || (capacity & (capacity - 1)) !== 0)
    throw new MediaError('invalid_ring', `A recording ring of ${capacity} bytes is not a power of two from 1024 up.`)
  const buffer = allocateCallMemory(HEADER_BYTES + 2 * capacity)
  const header = new Int32Array(buffer, 0, HEADER_WORDS)
  header[CAPACITY] = capacity
  header[END] = NO_END
  header[SAMPLE_RATE] = sampleRateHz
  return buffer
}

/**
 * The media thread's side of a recording: two mu-law channels on the session's sample clock. Each channel has one
 * writer. Nothing here blocks or allocates; audio that does not fit because the writer thread is late is counted as
 * overrun and becomes silence.
 */
export class RecordingRing {
  readonly memory: SharedArrayBuffer
  readonly #header: Int32Array
  readonly #left: RecordingChannel
  readonly #right: RecordingChannel

  constructor(buffer: SharedArrayBuffer) {
    this.memory = buffer
    this.#header = new Int32Array(buffer, 0, HEADER_WORDS)
    this.#left = new RecordingChannel(buffer, LEFT_PUBLISHED)
    this.#right = new RecordingChannel(buffer, RIGHT_PUBLISHED)
  }

  /** Writes `count` samples at `position`. Missing audio before it becomes silence; audio already written stays. */
  writeLeft(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#write(this.#left, position, samples, offset, Math.min(count, samples.length - offset))
  }

  writeRight(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#write(this.#right, position, samples, offset, Math.min(count, samples.length - offset))
  }

  /** `writeLeft` for mu-law bytes. */
  writeLeftBytes(position: Samples, bytes: Uint8Array, offset: number, count: Samples): void {
    this.#write(this.#left, position, bytes, offset, Math.min(count, bytes.length - offset))
  }

  writeRightBytes(position: Samples, bytes: Uint8Array, offset: number, count: Samples): void {
    this.#write(this.#right, position, bytes, offset, Math.min(count, bytes.length - offset))
  }

  /** The recording ends at `position` on both channels; later writes do nothing. Idempotent: the first call counts. */
  end(position: Samples): void {
    Atomics.compareExchange(this.#header, END, NO_END, Math.max(0, Math.round(position)))
  }

  /** Samples of both channels that did not fit. */
  get overrunSamples(): Samples {
    return Atomics.load(this.#header, OVERRUN)
  }

  #write(
    channel: RecordingChannel,
    position: Samples,
    source: Int16Array | Uint8Array,
    offset: number,
    count: Samples,
  ): void {
    if (!(count > 0) || Atomics.load(this.#header, END) !== NO_END) return
    // The writer thread may have passed this position, because it takes a lagging channel for silent: that cannot be
    // recorded any more.
    const read = Atomics.load(this.#header, READ)
    const from = Math.max(channel.published, read)
    const end = position + count
    if (end <= from) return
    const room = read + channel.capacity
    if (end > room) Atomics.add(this.#header, OVERRUN, end - Math.max(position, from, room))
    const until = Math.min(end, room)
    channel.makeRoom(read, until)
    for (let at = from; at < Math.min(position, room); ) {
      const start = channel.offsetOf(at)
      const part = Math.min(position - at, room - at, channel.runFrom(at))
      channel.halfOf(at).fill(SILENCE, start, start + part)
      at += part
    }
    for (let at = Math.max(position, from); at < until; ) {
      const part = Math.min(until - at, channel.runFrom(at))
      copy(channel.halfOf(at), channel.offsetOf(at), source, offset + at - position, part)
      at += part
    }
    channel.published = Math.max(from, until)
  }
}

function copy(half: Uint8Array, start: number, source: Int16Array | Uint8Array, offset: number, count: number): void {
  if (source instanceof Int16Array) encodePcmu(source, offset, count, half, start)
  else for (let i = 0; i < count; i++) half[start + i] = source[offset + i]!
}

/** As `RecordingRingReader.copy`, of the ring that is all of `words`. */
export type RecordingCopy = (words: Int32Array, frames: Samples, dst: Uint8Array, swap: boolean) => Samples

/** The writer thread's side of a recording. Both channels advance together. */
export class RecordingRingReader {
  readonly #header: Int32Array
  readonly #left: RecordingChannel
  readonly #right: RecordingChannel
  readonly #native: { readonly words: Int32Array; readonly copy: RecordingCopy } | null

  /** `copy`: native code that does what `copy` does; default: none. */
  constructor(buffer: SharedArrayBuffer, copy: RecordingCopy | null = null) {
    this.#header = new Int32Array(buffer, 0, HEADER_WORDS)
    this.#left = new RecordingChannel(buffer, LEFT_PUBLISHED)
    this.#right = new RecordingChannel(buffer, RIGHT_PUBLISHED)
    this.#native = copy === null ? null : { words: new Int32Array(buffer), copy }
  }

  /**
   * Frames released so far: where the next `copy` starts. It is stored in the ring, so that a new thread continues
   * where one died.
   */
  get position(): Samples {
    return Atomics.load(this.#header, READ)
  }

  /** Frames per second. */
  get sampleRateHz(): SampleRateHz {
    return this.#header[SAMPLE_RATE] as SampleRateHz
  }

  /**
   * Frames that `copy` can return: up to the slower channel, but at most 1 s behind the faster one, or 250 ms where the slower one has
   * not begun; all of it when `finishing`.
   */
  available(finishing: boolean): Samples {
    const left = this.#left.published
    const right = this.#right.published
    const end = Atomics.load(this.#header, END)
    if (finishing || end !== NO_END) return Math.max(0, (end === NO_END ? Math.max(left, right) : end) - this.position)
    const slower = Math.min(left, right)
    const lagSeconds = slower === 0 ? MAX_START_LAG_SECONDS : MAX_LAG_SECONDS
    const until = Math.max(slower, Math.max(left, right) - lagSeconds * this.sampleRateHz)
    return Math.max(0, until - this.position)
  }

  /**
   * Copies at most `frames` frames from `position` on to `dst` as byte pairs (left, right; exchanged when `swap`) and
   * returns how many. They stay in the ring until `release`.
   */
  copy(dst: Uint8Array, frames: Samples, swap: boolean): Samples {
    if (this.#native !== null) return this.#native.copy(this.#native.words, frames, dst, swap)
    const n = Math.min(frames, dst.length >> 1)
    const first = this.#read(swap ? this.#right : this.#left, 0, n)
    const second = this.#read(swap ? this.#left : this.#right, 1, n)
    for (let i = 0; i < n; i++) {
      dst[2 * i] = first[i]!
      dst[2 * i + 1] = second[i]!
    }
    return n
  }

  /** Frees `frames` for the media thread; call it once they are in the file. */
  release(frames: Samples): void {
    Atomics.store(this.#header, READ, this.position + frames)
  }

  /** A channel's next frames as one block, silence where it has none; the memory is used again by the next call. */
  #read(channel: RecordingChannel, of: 0 | 1, frames: Samples): Uint8Array {
    let block = BLOCKS[of]
    if (block.length < frames) {
      block = new Uint8Array(frames)
      BLOCKS[of] = block
    }
    const { position } = this
    const there = Math.max(0, Math.min(frames, channel.published - position))
    for (let at = 0; at < there; ) {
      const start = channel.offsetOf(position + at)
      const part = Math.min(there - at, channel.runFrom(position + at))
      block.set(channel.halfOf(position + at).subarray(start, start + part), at)
      at += part
    }
    return block.fill(SILENCE, there, frames)
  }
}
