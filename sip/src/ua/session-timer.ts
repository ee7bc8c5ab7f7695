import type { Ms, Timer } from '@parley/kernel'
import type { SipRequest, SipResponse } from '../message/message.ts'
import type { HeaderPairs } from './session.ts'
import type { SessionCore } from './session-core.ts'
import {
  intervalTooSmall,
  MIN_INTERVAL_S,
  minSeOf,
  type RefresherParam,
  sessionExpiresOf,
  supportsTimer,
} from './session-timer-headers.ts'
import type { SessionTimerOptions } from './session-timer-options.ts'

const DEFAULT_EXPIRES_S = 1800

/** RFC 4028 section 10: the BYE goes out that long before the end at most. */
const MAX_AHEAD_S = 32

/** Between two attempts at one refresh. */
const MIN_RETRY_MS: Ms = 10_000

/** Most 422 responses that are followed. */
const MAX_RAISES = 3

interface Agreement {
  readonly intervalS: number
  readonly refresher: 'local' | 'remote'
  /** False: only we refresh, and the peer does not expect it. */
  readonly peerTakesPart: boolean
}

/**
 * The session timer of one session (RFC 4028): what is requested and agreed in every INVITE, re-INVITE and UPDATE, and
 * when a refresh or the end is due.
 *
 *     off --2xx with Session-Expires--> running --half the interval, we refresh--> refresh(); running
 *     running --2xx to a refresh of either side--> running anew
 *     running --interval - min(32 s, interval / 3)--> expired()
 */
export class SessionTimer {
  readonly #core: SessionCore
  readonly #hooks: { refresh(): void; expired(): void }
  #asks: boolean
  #expiresS: number
  /** Grows by 422s. */
  #minSeS: number
  #preference: 'local' | 'remote' | undefined
  #raises = 0
  #agreed: Agreement | undefined
  #expiresAt: Ms | undefined
  #refreshTimer: Timer | undefined
  #expiryTimer: Timer | undefined

  constructor(core: SessionCore, hooks: { refresh(): void; expired(): void }) {
    this.#core = core
    this.#hooks = hooks
    const settings = core.ctx.sessionTimer
    this.#asks = settings !== 'off'
    this.#expiresS = DEFAULT_EXPIRES_S
    this.#minSeS = MIN_INTERVAL_S
    this.configure(settings)
  }

  /** For this session, before anything is agreed. */
  configure(settings: SessionTimerOptions): void {
    this.#asks = settings !== 'off'
    if (settings === 'off') return
    this.#minSeS = leastInterval(settings)
    this.#expiresS = Math.max(settings.expiresS ?? DEFAULT_EXPIRES_S, this.#minSeS)
    this.#preference = settings.refresher
  }

  /** For an INVITE, re-INVITE or UPDATE of ours (sections 7.1, 7.4). */
  requestHeaders(): HeaderPairs {
    const agreed = this.#agreed
    if (agreed === undefined && !this.#asks) return []
    const intervalS = Math.max(agreed?.intervalS ?? this.#expiresS, this.#minSeS)
    // 7.1: who refreshes is left open in the first request unless it matters; 7.4: later the roles stay.
    const refresher = agreed?.refresher ?? this.#preference
    const param = refresher === undefined ? '' : `;refresher=${refresher === 'local' ? 'uac' : 'uas'}`
    const minSe: HeaderPairs = this.#minSeS > MIN_INTERVAL_S ? [['Min-SE', String(this.#minSeS)]] : []
    return [['Session-Expires', `${intervalS}${param}`], ...minSe]
  }

  /** A 422 to a request of ours (section 7.3): true if the request should be sent again with the larger interval. */
  raise(response: SipResponse): boolean {
    const minSeS = minSeOf(response.headers)
    if (response.status !== 422 || minSeS === undefined || minSeS <= this.#minSeS) return false
    if (this.#raises >= MAX_RAISES) return false
    this.#raises++
    this.#minSeS = minSeS
    return true
  }

  /** The 2xx to an INVITE, re-INVITE or UPDATE of ours (section 7.2). */
  answered(response: SipResponse): void {
    const before = this.#agreed
    const given = sessionExpiresOf(response.headers)
    if (given !== undefined) {
      const intervalS = Math.max(given.intervalS, MIN_INTERVAL_S)
      this.#run({ intervalS, refresher: given.refresher === 'uas' ? 'remote' : 'local', peerTakesPart: true })
    } else if (this.#asks || before !== undefined) {
      // 7.2: a peer that knows no timer can still be refreshed, by us alone.
      const intervalS = Math.max(before?.intervalS ?? this.#expiresS, this.#minSeS)
      this.#run({ intervalS, refresher: 'local', peerTakesPart: false })
    }
    if (before !== undefined) this.#core.emit({ type: 'refreshed', by: 'local' })
  }

  /** The headers of a 422 to a re-INVITE or UPDATE of the peer; undefined: its interval is acceptable. */
  objectTo(request: SipRequest): HeaderPairs | undefined {
    return intervalTooSmall(request.headers, this.#minSeS)
  }

  /** For the 2xx to an INVITE, re-INVITE or UPDATE of the peer, which is sent now (section 9). */
  answer(request: SipRequest): HeaderPairs {
    const requested = sessionExpiresOf(request.headers)
    const before = this.#agreed
    if (requested === undefined && before === undefined && !this.#asks) return []
    const peerTakesPart = supportsTimer(request.headers)
    const ours = before?.intervalS ?? this.#expiresS
    const wanted =
      requested === undefined ? ours : this.#asks ? Math.min(requested.intervalS, ours) : requested.intervalS
    const intervalS = Math.max(wanted, minSeOf(request.headers) ?? 0, MIN_INTERVAL_S)
    const refresher = this.#refresherFor(peerTakesPart, requested?.refresher)
    this.#run({ intervalS, refresher, peerTakesPart })
    if (before !== undefined) this.#core.emit({ type: 'refreshed', by: 'remote' })
    const value = `${intervalS};refresher=${refresher === 'local' ? 'uas' : 'uac'}`
    return peerTakesPart
      ? [
          ['Session-Expires', value],
          ['Require', 'timer'],
        ]
      : [['Session-Expires', value]]
  }

  /** Section 9, table 2. */
  #refresherFor(peerTakesPart: boolean, requested: RefresherParam | undefined): Agreement['refresher'] {
    if (!peerTakesPart) return 'local'
    if (requested !== undefined) return requested === 'uas' ? 'local' : 'remote'
    return this.#agreed?.refresher ?? this.#preference ?? 'remote'
  }

  #run(agreed: Agreement): void {
    const { time } = this.#core.ctx
    this.stop()
    this.#agreed = agreed
    const interval = 1000 * agreed.intervalS
    if (agreed.peerTakesPart) {
      this.#expiresAt = time.now() + interval - Math.min(1000 * MAX_AHEAD_S, interval / 3)
      this.#expiryTimer = time.at(this.#expiresAt, () => {
        this.stop()
        this.#hooks.expired()
      })
    }
    // Section 7.4: half the interval leaves time for attempts that fail.
    if (agreed.refresher === 'local') this.retryAfter(interval / 2)
  }

  /** The next attempt at a refresh; by default after half of the remaining time. */
  retryAfter(delay: Ms): void {
    if (this.#agreed?.refresher !== 'local') return
    const { time } = this.#core.ctx
    const { intervalS } = this.#agreed
    this.#refreshTimer?.cancel()
    this.#refreshTimer = time.at(time.now() + delay, () => {
      const left = this.#expiresAt === undefined ? 1000 * intervalS : this.#expiresAt - time.now()
      this.retryAfter(Math.max(left / 2, MIN_RETRY_MS))
      this.#hooks.refresh()
    })
  }

  stop(): void {
    this.#refreshTimer?.cancel()
    this.#expiryTimer?.cancel()
    this.#refreshTimer = undefined
    this.#expiryTimer = undefined
    this.#expiresAt = undefined
  }
}

/** Smallest accepted interval under these settings, in seconds. */
export function leastInterval(settings: SessionTimerOptions): number {
  return settings === 'off' ? MIN_INTERVAL_S : Math.max(settings.minSeS ?? MIN_INTERVAL_S, MIN_INTERVAL_S)
}
