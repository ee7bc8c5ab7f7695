import type { TlsIdentity } from '@parley/leg'

/** Messages between the benchmark and its processes, one object each. */

/** What is measured: a user agent that answers at once, or an engine with media whose admission is in memory. */
export type Layer = 'ua' | 'engine'

/** A planted fault, which the figures must show. */
export type PlantedFault =
  /** The subject computes for this long at each INVITE, ms. */
  | { readonly kind: 'busy'; readonly ms: number }
  /** The subject ignores one INVITE in `every`. */
  | { readonly kind: 'deaf'; readonly every: number }

export type SubjectRequest =
  | { readonly type: 'open'; readonly layer: Layer; readonly tls: TlsIdentity; readonly planted: PlantedFault | null }
  /** `collect`: collects garbage first. */
  | { readonly type: 'measure'; readonly collect: boolean }

export type SubjectReply =
  | { readonly type: 'opened'; readonly ports: { readonly udp: number; readonly tcp: number; readonly tls: number } }
  | { readonly type: 'measured'; readonly measured: SubjectMeasures }

export interface SubjectMeasures {
  /** User and system time of all threads since the start. */
  readonly cpuMs: number
  /** Used heap and memory outside of it that belongs to JavaScript objects. */
  readonly heapBytes: number
  readonly rssBytes: number
  /** Calls that exist now. */
  readonly dialogs: number
}

export type CallerRequest =
  | { readonly type: 'open'; readonly tls: TlsIdentity; readonly port: number; readonly user: string }
  /** Calls over TLS, each ended when it is answered. */
  | { readonly type: 'call'; readonly count: number; readonly perSecond: number }
  /** Calls that stay. */
  | { readonly type: 'hold'; readonly count: number; readonly perSecond: number }
  /** Connections on which one request was answered. */
  | { readonly type: 'connect'; readonly count: number }

export type CallerReply =
  | { readonly type: 'opened' }
  | { readonly type: 'called'; readonly failed: number; readonly inviteMs: readonly number[]; readonly seconds: number }
  | { readonly type: 'held'; readonly failed: number }
  | { readonly type: 'connected'; readonly failed: number }
