import type { Quantiles } from '../../benchmarks/media/messages.ts'

/** What the process of the browsers is asked, one request at a time. */
export type BrowsersRequest =
  | { readonly type: 'prepare'; readonly packets: readonly Uint8Array[] }
  /** Opens one call. `url` and `token`: of the answer that created the run. */
  | { readonly type: 'call'; readonly url: string; readonly token: string }
  | { readonly type: 'measure'; readonly seconds: number }

export type BrowsersReply =
  | { readonly type: 'prepared' }
  /** HTTP status of the answer to the offer. */
  | { readonly type: 'called'; readonly status: number }
  /** Precedes "measured": every call receives packets. */
  | { readonly type: 'measuring' }
  | { readonly type: 'measured'; readonly measured: BrowserMeasures }

export interface BrowserMeasures {
  readonly seconds: number
  /** Of the packets of all calls, against each call's own 20 ms grid. */
  readonly lateness_ms: Quantiles
  /** Packets that were lost: gaps in the sequence. */
  readonly missing: number
  /** Of the call that lost most. */
  readonly most_missing: number
  /** Packets of the call that received fewest. */
  readonly fewest_packets: number
  /** Calls whose connection is up at the end. */
  readonly connected: number
  /** Utterances of the caller that the page of the call was sent, over the whole call: of the call that has fewest. */
  readonly fewest_turns: number
  /** CPU of this process, ms. */
  readonly cpu_ms: number
}
