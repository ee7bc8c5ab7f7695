import type { MediaParameters, MediaStatistics } from '@parley/media'
import type { SrtpKey, ThreadStatistics } from '@parley/media/testing'

/** Messages between the benchmark and its two processes, one object each. */
export interface CallKeys {
  readonly toSubject: SrtpKey
  readonly toPeer: SrtpKey
}

export type SubjectRequest =
  | {
      readonly type: 'open'
      readonly calls: number
      readonly packetIo: 'native' | 'portable'
      readonly stalls: { readonly ms: number; readonly everySends: number } | null
      /** Folder for recordings; null: none, and no voice activity. */
      readonly recordings: string | null
    }
  | { readonly type: 'connect'; readonly parameters: readonly MediaParameters[] }
  /** `at`: the measured time begins after the statistics of the calls were asked for, and ends before, so that it is without them. */
  | { readonly type: 'measure'; readonly at: 'begin' | 'end' }
  /** Asks for the memory of the process without garbage, which stalls its calls. */
  | { readonly type: 'weigh' }

export type SubjectReply =
  | { readonly type: 'opened'; readonly ports: readonly number[]; readonly rssBefore: number }
  | { readonly type: 'connected' }
  | { readonly type: 'measured'; readonly measured: SubjectMeasures }
  | { readonly type: 'weighed'; readonly rss: number }

export interface SubjectMeasures {
  readonly thread: ThreadStatistics
  /** User and system time of the whole process since its start. */
  readonly processCpuMs: number
  /** CPU time of the main thread since its start. */
  readonly mainCpuMs: number
  readonly missedSlots: number
  readonly rejected: MediaStatistics['rejected']
}

export type PeerRequest =
  | {
      readonly type: 'bind'
      readonly subjectPorts: readonly number[]
      readonly keys: readonly CallKeys[]
      readonly seconds: number
    }
  | { readonly type: 'run'; readonly warmUpMs: number; readonly measureMs: number }

export type PeerReply =
  | { readonly type: 'bound'; readonly ports: readonly number[] }
  | { readonly type: 'measuring' }
  | { readonly type: 'done'; readonly heard: PeerMeasures }

export interface PeerMeasures {
  readonly packets: number
  /** Grid points at which no packet was sent. */
  readonly missing: number
  /** Packets of the verified sample that were not authentic. */
  readonly unauthentic: number
  /** Packets that its sockets had no room for. */
  readonly receiveDropped: number
  /** Packets that it sent in the measured time. */
  readonly sent: number
  /** Share of a core that it took in the measured time. */
  readonly cpuShare: number
  readonly latenessMs: Quantiles
}

export interface Quantiles {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}
