import type { Ms } from '@parley/kernel'

/** RFC 3261 section 17.1.1.1 and table 4: everything else is derived from these three. */
export interface TimerSettings {
  /** Estimate of the round trip; default 500. */
  readonly t1: Ms
  /** Longest interval between retransmissions of non-INVITE requests and of INVITE responses; default 4000. */
  readonly t2: Ms
  /** Longest time a message stays in the network; default 5000. */
  readonly t4: Ms
}

export const DEFAULT_TIMERS: TimerSettings = { t1: 500, t2: 4000, t4: 5000 }

/** The timers of RFC 3261 table 4 (and L, M of RFC 6026) for one transaction; all in milliseconds. */
export interface TransactionTimers {
  /** False: the transport loses messages (UDP), so requests and responses are retransmitted. */
  readonly reliable: boolean
  readonly t1: Ms
  readonly t2: Ms
  /** INVITE request retransmit interval, doubling; UDP only. */
  readonly a: Ms
  /** INVITE transaction timeout. */
  readonly b: Ms
  /** Wait time for response retransmissions, INVITE client. */
  readonly d: Ms
  /** Non-INVITE request retransmit interval, doubling up to T2; UDP only. */
  readonly e: Ms
  /** Non-INVITE transaction timeout. */
  readonly f: Ms
  /** INVITE response retransmit interval, doubling up to T2. */
  readonly g: Ms
  /** Wait time for the ACK. */
  readonly h: Ms
  /** Wait time for ACK retransmissions. */
  readonly i: Ms
  /** Wait time for non-INVITE request retransmissions. */
  readonly j: Ms
  /** Wait time for response retransmissions, non-INVITE client. */
  readonly k: Ms
  /** Wait time for accepted INVITE request retransmissions (RFC 6026 section 8.7). */
  readonly l: Ms
  /** Wait time for retransmissions of 2xx to INVITE, or of 2xx from other forks (RFC 6026 section 8.4). */
  readonly m: Ms
}

export function timersFor(settings: TimerSettings, reliable: boolean): TransactionTimers {
  const { t1, t2, t4 } = settings
  return {
    reliable,
    t1,
    t2,
    a: t1,
    b: 64 * t1,
    d: reliable ? 0 : Math.max(32_000, 64 * t1),
    e: t1,
    f: 64 * t1,
    g: t1,
    h: 64 * t1,
    i: reliable ? 0 : t4,
    j: reliable ? 0 : 64 * t1,
    k: reliable ? 0 : t4,
    l: 64 * t1,
    m: 64 * t1,
  }
}

/** How long a client's Timer E needs until it has been reset to T2: 3.5 s with the defaults (RFC 4320 section 4.1). */
export function timeUntilTimerEReachesT2(timers: TransactionTimers): Ms {
  let elapsed = 0
  for (let interval = timers.e; interval < timers.t2; interval = Math.min(2 * interval, timers.t2)) elapsed += interval
  return elapsed
}

/** The earliest of several optional deadlines. */
export function earliest(...deadlines: readonly (Ms | undefined)[]): Ms | undefined {
  let first: Ms | undefined
  for (const deadline of deadlines) {
    if (deadline !== undefined && (first === undefined || deadline < first)) first = deadline
  }
  return first
}
