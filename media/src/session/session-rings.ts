import { type AudioFormat, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import { allocateCallMemory } from '../page/call-memory.ts'
import type { VoiceEdge } from './media-session.ts'

/** Least time that the outbound ring holds: longer than the owner of the call may be late with more. The heard ring holds twice that. */
const OUTBOUND_SECONDS = 1
/** The reader does not use the oldest part of the heard ring, which the writer may be overwriting. */
const HEARD_GUARD_MS = 128

/** Samples from which on they are copied as one block. */
const BLOCK = 256

const OUT_WRITTEN = 0
const OUT_TAKEN = 1
const HEARD_WRITTEN = 2
const HEARD_READ = 3
const HEARD_ORIGIN = 4
const HEARD_OVERRUN = 5
const EDGES_WRITTEN = 6
const EDGES_READ = 7
/** Position of the audio at the start of the ring's memory. */
const OUT_BASE = 8
const HEARD_BASE = 9
/** Capacity for voice edges that the reader has not taken; a power of two. */
const EDGES = 16
const EDGES_AT = 10
/** Ring position of the heard audio in which it was found, 1 or 0 for start or end, position on the sample clock. */
const WORDS_PER_EDGE = 3
const HEADER_WORDS = EDGES_AT + EDGES * WORDS_PER_EDGE
const HEADER_BYTES = HEADER_WORDS * 4

/**
 * The memory that a session's two threads share: a header of atomic words, then the outbound and the heard ring (16-bit
 * samples, each with one writer and one reader). Positions count from 0 at open and are never reset; they are 32-bit
 * words read unsigned, enough for six days of audio.
 *
 * Audio that is written when the other side has taken all begins at the start of a ring's memory. Where the other side keeps up, as
 * it does nearly always, the rest of the ring is never touched: it costs no memory and no place in the processor's caches.
 */
export class SessionRings {
  readonly format: AudioFormat
  /** Samples that each ring holds: powers of two, so that positions wrap cheaply. */
  readonly outboundSamples: Samples
  readonly heardSamples: Samples
  readonly memory: SharedArrayBuffer
  readonly #guard: Samples
  readonly #header: Int32Array
  readonly #out: Int16Array
  readonly #heard: Int16Array

  /** Allocates the memory, or attaches to that of the other thread. Audio in both rings is of `format`, mono. */
  constructor(format: AudioFormat = NARROWBAND, memory?: SharedArrayBuffer) {
    this.format = format
    this.outboundSamples = 2 ** Math.ceil(Math.log2(OUTBOUND_SECONDS * format.sampleRateHz))
    this.heardSamples = 2 * this.outboundSamples
    this.#guard = msToSamples(HEARD_GUARD_MS, format)
    const heardAt = HEADER_BYTES + 2 * this.outboundSamples
    this.memory = memory ?? allocateCallMemory(heardAt + 2 * this.heardSamples)
    this.#header = new Int32Array(this.memory, 0, HEADER_WORDS)
    this.#out = new Int16Array(this.memory, HEADER_BYTES, this.outboundSamples)
    this.#heard = new Int16Array(this.memory, heardAt, this.heardSamples)
  }

  // Outbound: the owner of the call writes, the media thread takes.

  /** Copies as much of `audio` from `start` on as fits; returns how many samples. */
  writeOutbound(audio: Int16Array, start: number): Samples {
    const written = this.#load(OUT_WRITTEN)
    const taken = this.#load(OUT_TAKEN)
    const room = this.outboundSamples - (written - taken)
    const count = Math.min(room, audio.length - start)
    if (taken === written) this.#store(OUT_BASE, written)
    copyIn(this.#out, written - this.#load(OUT_BASE), audio, start, count)
    this.#store(OUT_WRITTEN, written + count)
    return count
  }

  outboundWritten(): Samples {
    return this.#load(OUT_WRITTEN)
  }

  /** Ring position up to which audio was taken for sending, or dropped. */
  outboundTaken(): Samples {
    return this.#load(OUT_TAKEN)
  }

  /**
   * Drops all audio that was not taken yet; returns the position up to which audio had been taken. Taking and dropping
   * change the same word by compare-and-exchange: each sample is either sent or dropped, and both threads agree which.
   */
  dropOutbound(): Samples {
    for (;;) {
      const taken = Atomics.load(this.#header, OUT_TAKEN)
      if (Atomics.compareExchange(this.#header, OUT_TAKEN, taken, this.#load(OUT_WRITTEN) | 0) === taken) {
        return taken >>> 0
      }
    }
  }

  /** Moves up to `count` samples to `into`; returns how many there were. */
  takeOutbound(into: Int16Array, count: Samples): Samples {
    for (;;) {
      const taken = Atomics.load(this.#header, OUT_TAKEN)
      const n = Math.min(count, this.#load(OUT_WRITTEN) - (taken >>> 0))
      if (n <= 0) return 0
      copyOut(this.#out, (taken >>> 0) - this.#load(OUT_BASE), into, 0, n)
      if (Atomics.compareExchange(this.#header, OUT_TAKEN, taken, (taken + n) | 0) === taken) return n
    }
  }

  // Heard: the media thread writes, the owner of the call reads.

  /** Position on the session's sample clock of the first sample ever written. Set once, before it is written. */
  setHeardOrigin(position: Samples): void {
    this.#store(HEARD_ORIGIN, position)
  }

  heardOrigin(): Samples {
    return this.#load(HEARD_ORIGIN)
  }

  /** Writes heard audio. Never waits: a late reader loses the oldest samples. */
  writeHeard(audio: Int16Array, count: Samples): void {
    const written = this.#load(HEARD_WRITTEN)
    if (this.#load(HEARD_READ) === written) this.#store(HEARD_BASE, written)
    copyIn(this.#heard, written - this.#load(HEARD_BASE), audio, 0, count)
    this.#store(HEARD_WRITTEN, written + count)
  }

  heardWritten(): Samples {
    return this.#load(HEARD_WRITTEN)
  }

  heardRead(): Samples {
    return this.#load(HEARD_READ)
  }

  /** Samples lost because the reader came late. */
  heardOverrun(): Samples {
    return this.#load(HEARD_OVERRUN)
  }

  readHeard(into: Int16Array): Samples {
    for (;;) {
      const read = this.#skipOverrun()
      const count = Math.min(into.length, this.#load(HEARD_WRITTEN) - read)
      copyOut(this.#heard, read - this.#load(HEARD_BASE), into, 0, count)
      // Data that was overwritten while it was copied must not be returned.
      if (this.#load(HEARD_WRITTEN) - read > this.heardSamples) continue
      this.#store(HEARD_READ, read + count)
      return count
    }
  }

  // Edges of voice: the media thread writes, the owner of the call reads.

  /**
   * Writes a voice edge that was found in the `count` samples which are passed to `writeHeard` next, so that the reader
   * has the edges of all audio that it has. Never waits: a late reader loses the oldest.
   */
  writeVoiceEdge(isStart: boolean, position: Samples, count: Samples): void {
    const written = this.#load(EDGES_WRITTEN)
    const at = EDGES_AT + (written % EDGES) * WORDS_PER_EDGE
    this.#store(at, this.#load(HEARD_WRITTEN) + count)
    this.#store(at + 1, isStart ? 1 : 0)
    this.#store(at + 2, position)
    this.#store(EDGES_WRITTEN, written + 1)
  }

  /** The next edge that was found in audio which `readHeard` has returned; null: none. */
  nextVoiceEdge(): VoiceEdge | null {
    for (;;) {
      const written = this.#load(EDGES_WRITTEN)
      const read = Math.max(this.#load(EDGES_READ), written - (EDGES - 1))
      if (read >= written) return null
      const at = EDGES_AT + (read % EDGES) * WORDS_PER_EDGE
      const foundAt = this.#load(at)
      const isStart = this.#load(at + 1) === 1
      // An edge before the first sample of the clock is set to its start.
      const atSample = Math.max(0, Atomics.load(this.#header, at + 2))
      // Data that was overwritten while it was copied must not be returned.
      if (this.#load(EDGES_WRITTEN) - read >= EDGES) continue
      if (foundAt > this.#load(HEARD_READ)) return null
      this.#store(EDGES_READ, read + 1)
      return { type: isStart ? 'voice-start' : 'voice-end', atSample }
    }
  }

  #skipOverrun(): Samples {
    const read = this.#load(HEARD_READ)
    const oldest = this.#load(HEARD_WRITTEN) - (this.heardSamples - this.#guard)
    if (read >= oldest) return read
    this.#store(HEARD_OVERRUN, this.#load(HEARD_OVERRUN) + oldest - read)
    this.#store(HEARD_READ, oldest)
    return oldest
  }

  #load(word: number): number {
    return Atomics.load(this.#header, word) >>> 0
  }

  #store(word: number, value: number): void {
    Atomics.store(this.#header, word, value | 0)
  }
}

function copyIn(ring: Int16Array, position: number, from: Int16Array, start: number, count: number): void {
  const at = position & (ring.length - 1)
  const first = Math.min(count, ring.length - at)
  copy(from, start, ring, at, first)
  copy(from, start + first, ring, 0, count - first)
}

function copyOut(ring: Int16Array, position: number, into: Int16Array, start: number, count: number): void {
  const at = position & (ring.length - 1)
  const first = Math.min(count, ring.length - at)
  copy(ring, at, into, start, first)
  copy(ring, 0, into, start + first, count - first)
}

/** Much audio is copied as one block, which waits less for what the other thread wrote; a view of little audio would cost more than its copy. */
function copy(from: Int16Array, start: number, to: Int16Array, at: number, count: number): void {
  if (count >= BLOCK) to.set(from.subarray(start, start + count), at)
  else for (let i = 0; i < count; i++) to[at + i] = from[start + i]!
}
