import type { Ms } from '@parley/kernel'
import type { PacketBatch } from '../packet-io/packet-io.ts'
import type { MediaSessionCore } from './media-session-core.ts'

/** Calls of one wake. The arrays are reused. */
export interface PathCalls {
  /** As `add` returned them. */
  readonly ids: Int32Array
  /** The send slot of each. */
  readonly slotMs: Float64Array
  /** Of `compose`, for each: LEFT, COMPOSED, or 0 where nothing is due. */
  readonly outcome: Int8Array
  /** Of `compose`, for each: 1 when its core may have an RTCP report to send. */
  readonly due: Uint8Array
  /** Of `advance`, for each: 1 when its core must. */
  readonly left: Uint8Array
}

/** What became of an entry of `compose`. */
export const LEFT = -1
export const COMPOSED = 1

/**
 * Processes the regular packets of many calls at once: audio in sequence from the source that is heard, and audio that is sent.
 * What is not regular (a gap, another source, a telephone-event, RTCP, a new key, a codec of another kind) it leaves to the
 * call's `MediaSessionCore`, which works on the same state (`CallPage`). Packets of a call that follow one that was left are
 * left too, so that the order of a call's packets stays. The portable path leaves everything.
 */
export interface MediaPath {
  readonly kind: 'portable' | 'native'
  /** The call whose RTP and RTCP arrive at these sockets; returns its id. */
  add(core: MediaSessionCore, socket: number, rtcpSocket: number): number
  remove(id: number): void
  /**
   * Composes the packets of the calls from index `from` to before `until` into `batch` from slot `filled` on, which has room
   * for them, and sets of each the outcome and whether a report is due at `nowMs`. Returns how many slots are filled then.
   */
  compose(calls: PathCalls, from: number, until: number, nowMs: Ms, batch: PacketBatch, filled: number): number
  /** Processes the first `count` packets of `batch`; sets `left` to 1 for those that are for the cores. Returns how many. */
  receive(batch: PacketBatch, count: number, left: Uint8Array): number
  /** As `MediaSessionCore.advance`, for the first `count` calls; returns how many are left. */
  advance(calls: PathCalls, count: number, nowMs: Ms): number
}

/** Leaves every packet to the cores. */
export class PortableMediaPath implements MediaPath {
  readonly kind = 'portable'
  #nextId = 0

  add(): number {
    return this.#nextId++
  }

  remove(): void {}

  compose(calls: PathCalls, from: number, until: number, _nowMs: Ms, _batch: PacketBatch, filled: number): number {
    calls.outcome.fill(LEFT, from, until)
    calls.due.fill(1, from, until)
    return filled
  }

  receive(_batch: PacketBatch, count: number, left: Uint8Array): number {
    left.fill(1, 0, count)
    return count
  }

  advance(calls: PathCalls, count: number): number {
    calls.left.fill(1, 0, count)
    return count
  }
}
