import type { Ms } from '@parley/kernel'
import type { PacketIoCounters } from '../packet-io/packet-io.ts'
import type { SessionCommand, SessionReply } from '../session/session-protocol.ts'

export interface MediaThreadData {
  readonly bindAddress: string
}

/** From the main thread to a media thread. */
export type ThreadCommand =
  | {
      readonly type: 'open'
      readonly session: number
      /** RTP; RTCP is the port above. */
      readonly port: number
      readonly rings: SharedArrayBuffer
      readonly recording: SharedArrayBuffer | null
    }
  | { readonly type: 'session'; readonly session: number; readonly command: SessionCommand }
  | { readonly type: 'thread-statistics' }
  | { readonly type: 'stop' }

/** From a media thread to the main thread, in arrays: all of one wake together. */
export type ThreadReply =
  | { readonly type: 'ready' }
  | { readonly type: 'opened'; readonly session: number }
  | { readonly type: 'open-failed'; readonly session: number; readonly code: string; readonly detail: string }
  | { readonly type: 'session'; readonly session: number; readonly reply: SessionReply }
  | { readonly type: 'thread-statistics'; readonly statistics: ThreadStatistics }

export interface ThreadStatistics {
  readonly sessions: number
  readonly wakes: number
  /** How long after its slot each packet was handed to the system, as this thread's clock saw it; since statistics were last asked for. */
  readonly sendLateness: LatenessSummary
  /** CPU time of the thread since its start. */
  readonly cpuMs: Ms
  /** Busy share of the thread's event loop since its start. */
  readonly eventLoopUtilization: number
  readonly packetIo: PacketIoCounters
  readonly packetIoKind: 'portable' | 'native'
}

export interface LatenessSummary {
  readonly count: number
  readonly p50Ms: Ms
  readonly p99Ms: Ms
  readonly p999Ms: Ms
  readonly maxMs: Ms
}
