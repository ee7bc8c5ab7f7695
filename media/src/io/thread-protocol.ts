import type { AudioFormat, Ms } from '@parley/kernel'
import type { MediaErrorCode } from '../errors.ts'
import type { PacketIo, PacketIoCounters } from '../packet-io/packet-io.ts'
import type { LatenessCounts } from '../session/lateness-histogram.ts'
import type { SessionCommand, SessionReply } from '../session/session-protocol.ts'

export interface MediaThreadData {
  readonly bindAddress: string
  readonly packetIo: PacketIo['kind']
  readonly stalls: ThreadStalls | null
  /** Words that both sides share: `COMMAND_POSTED`, `LATENESS_US`. */
  readonly words: Int32Array
}

/** 1 when a command was posted that the thread has not received yet; checking the port would cost 25 us. */
export const COMMAND_POSTED = 0
/** p99 of the lateness of sent packets in the last five seconds, us; see `LatenessWindow`. */
export const LATENESS_US = 1
export const THREAD_WORDS = 2

/** Fault injection: the thread stalls for `ms` each time this many batches were sent. */
export interface ThreadStalls {
  readonly ms: Ms
  readonly everySends: number
}

/** Commands from the main thread to a media thread. */
export type ThreadCommand =
  | {
      readonly type: 'open'
      readonly session: number
      /** RTP; RTCP is the port above. */
      readonly port: number
      readonly format: AudioFormat
      readonly rings: SharedArrayBuffer
      readonly recording: SharedArrayBuffer | null
    }
  | { readonly type: 'session'; readonly session: number; readonly command: SessionCommand }
  | { readonly type: 'thread-statistics' }
  | { readonly type: 'stop' }

/** Replies from a media thread to the main thread, in arrays: all of one wake together. */
export type ThreadReply =
  | { readonly type: 'ready' }
  | { readonly type: 'opened'; readonly session: number }
  | { readonly type: 'open-failed'; readonly session: number; readonly code: MediaErrorCode; readonly detail: string }
  | { readonly type: 'session'; readonly session: number; readonly reply: SessionReply }
  | { readonly type: 'progress'; readonly words: Float64Array }
  | { readonly type: 'thread-statistics'; readonly statistics: ThreadStatistics }

/** Numbers of a report of playout in "progress": the session, then `taken`, `atSample` and `idle` (0 or 1) of its event. */
export const PROGRESS_WORDS = 4

export interface ThreadStatistics {
  readonly sessions: number
  readonly wakes: number
  /**
   * Time from each packet's slot until it was passed to the system, measured by this thread's clock, since the last
   * request for statistics.
   */
  readonly sendLateness: LatenessSummary
  /** CPU time of the thread since its start. */
  readonly cpuMs: Ms
  /**
   * Busy share of the thread since its start: of the event loop with portable packet I/O, of the time outside `wait` with
   * native (its event loop never idles, the thread sleeps elsewhere).
   */
  readonly eventLoopUtilization: number
  readonly packetIo: PacketIoCounters
  readonly packetIoKind: PacketIo['kind']
}

export interface LatenessSummary {
  readonly count: number
  readonly p50Ms: Ms
  readonly p99Ms: Ms
  readonly p999Ms: Ms
  readonly maxMs: Ms
  /** Of all packets; a slot that was missed counts as a packet that is late until the one that ended the gap, other than in `count`. */
  readonly counts: LatenessCounts
}
