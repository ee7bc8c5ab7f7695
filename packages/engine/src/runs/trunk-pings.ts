import { type Ms, type Random, RecentMap, randomBelow, type Time, type Timer, type UnixMs } from '@parley/kernel'
import { RepeatedFailureLog } from '@parley/runs'
import type { PingOutcome, Target, UserAgent } from '@parley/sip'
import { type Database, type OutboundTrunk, saveTrunkPing, type TrunkPing } from '@parley/store'
import { trunkHop, trunkUri } from './trunk-address.ts'

/** Carriers ban clients that send OPTIONS more often than every 15 s. */
const MIN_INTERVAL_MS: Ms = 15_000
/** Default interval of a trunk that is in use. */
const INTERVAL_MS: Ms = 30_000
/** Up to this share is added to each interval, so that the OPTIONS of engines and trunks spread. */
const JITTER = 0.2
/** A trunk is in use for this long after its last outbound call. */
const IN_USE_MS: Ms = 10 * 60_000
const LOOK_MS: Ms = 1000
/** How often the trunks that staff set to be pinged are read. */
const ASKED_MS: Ms = 30_000
const MAX_TRUNKS = 500
const MAX_STARTS_AT_ONCE = 20
const MAX_TARGETS = 8
const MAX_SERVERS = 4000
/** An unchanged state is stored this often. */
const STORE_MS: Ms = 60_000

interface TrunkPingsOptions {
  readonly database: Pick<Database, 'telephony' | 'transaction'>
  readonly engineId: string
  readonly time: Time
  readonly random: Random
  readonly wallClock: () => UnixMs
  readonly onProblem: (what: string, error: unknown) => void
}

type Pinger = Pick<UserAgent, 'locate' | 'ping'>

interface Pinged {
  trunk: OutboundTrunk
  usedAt: Ms
  /** Staff set it to be pinged. */
  isAsked: boolean
  nextAt: Ms
  isUnderWay: boolean
  state: TrunkPing['state'] | null
  storedAt: Ms
}

interface ServerPing {
  readonly at: Ms
  readonly outcome: Promise<PingOutcome>
}

/** Numbers of trunks by their state, and of OPTIONS since the start. */
export interface PingFigures {
  readonly trunks: Readonly<Record<TrunkPing['state'], number>>
  readonly answered: number
  readonly unanswered: number
}

/**
 * Sends OPTIONS to every server of the trunks that this engine dials, and of those that staff set to be pinged: so that a dead server is tried last before
 * a call meets it. No server gets more than one in 15 s, however many trunks lead to it.
 */
export class TrunkPings {
  readonly #options: TrunkPingsOptions
  readonly #reads: RepeatedFailureLog
  readonly #writes: RepeatedFailureLog
  readonly #pinged = new Map<string, Pinged>()
  /** By transport, address and port. */
  readonly #servers = new RecentMap<string, ServerPing>(MAX_SERVERS)
  #userAgent: Pinger | null = null
  #timer: Timer | null = null
  #askedAt: Ms = Number.NEGATIVE_INFINITY
  #isStopped = false
  #answered = 0
  #unanswered = 0

  constructor(options: TrunkPingsOptions) {
    this.#options = options
    const { time, onProblem } = options
    this.#reads = new RepeatedFailureLog({ name: 'reading the trunks to ping', time, onProblem })
    this.#writes = new RepeatedFailureLog({ name: 'storing the answers of trunks to OPTIONS', time, onProblem })
  }

  begin(userAgent: Pinger): void {
    this.#userAgent = userAgent
    this.#schedule()
  }

  /** Nothing more is sent; what is under way is not waited for. */
  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  /** A call is dialled on the trunk. */
  used(trunk: OutboundTrunk): void {
    const now = this.#options.time.now()
    const known = this.#pinged.get(keyOf(trunk))
    if (known !== undefined) {
      known.trunk = trunk
      known.usedAt = now
    } else this.#add(trunk, { usedAt: now, isAsked: false, nextAt: now + this.#interval(trunk) })
  }

  get figures(): PingFigures {
    const trunks = { reachable: 0, partly_reachable: 0, unreachable: 0 }
    for (const { state } of this.#pinged.values()) if (state !== null) trunks[state]++
    return { trunks, answered: this.#answered, unanswered: this.#unanswered }
  }

  #add(trunk: OutboundTrunk, facts: Pick<Pinged, 'usedAt' | 'isAsked' | 'nextAt'>): void {
    if (this.#isStopped || this.#pinged.size >= MAX_TRUNKS || trunk.details.ping === 0) return
    this.#pinged.set(keyOf(trunk), {
      trunk,
      ...facts,
      isUnderWay: false,
      state: null,
      storedAt: Number.NEGATIVE_INFINITY,
    })
  }

  #schedule(): void {
    if (this.#isStopped) return
    const { time } = this.#options
    this.#timer = time.at(time.now() + LOOK_MS, () => {
      this.#look()
      this.#schedule()
    })
  }

  #look(): void {
    const now = this.#options.time.now()
    if (now - this.#askedAt >= ASKED_MS) {
      this.#askedAt = now
      void this.#readAsked()
    }
    let starts = 0
    for (const [key, pinged] of [...this.#pinged]) {
      const isWanted = pinged.isAsked || now - pinged.usedAt < IN_USE_MS
      if (!isWanted || pinged.trunk.details.ping === 0) this.#pinged.delete(key)
      else if (pinged.nextAt <= now && !pinged.isUnderWay && starts < MAX_STARTS_AT_ONCE) {
        starts++
        // To the end: with more trunks than can be pinged in their interval, all get their turn.
        this.#pinged.delete(key)
        this.#pinged.set(key, pinged)
        void this.#ping(pinged)
      }
    }
  }

  async #readAsked(): Promise<void> {
    try {
      const asked = await this.#options.database.telephony.pingedTrunks()
      const now = this.#options.time.now()
      const keys = new Set(asked.map(keyOf))
      for (const [key, pinged] of this.#pinged) if (!keys.has(key)) pinged.isAsked = false
      for (const trunk of asked) {
        const known = this.#pinged.get(keyOf(trunk))
        if (known !== undefined) {
          known.trunk = trunk
          known.isAsked = true
        } else {
          const { random } = this.#options
          const nextAt = now + randomBelow(random, this.#interval(trunk))
          this.#add(trunk, { usedAt: Number.NEGATIVE_INFINITY, isAsked: true, nextAt })
        }
      }
      this.#reads.worked()
    } catch (error) {
      this.#reads.failed(error)
    }
  }

  #interval({ details: { ping } }: OutboundTrunk): Ms {
    const ms = Math.max(MIN_INTERVAL_MS, ping === undefined ? INTERVAL_MS : ping * 1000)
    return ms + randomBelow(this.#options.random, Math.round(ms * JITTER) + 1)
  }

  async #ping(pinged: Pinged): Promise<void> {
    const { time, onProblem } = this.#options
    pinged.isUnderWay = true
    pinged.nextAt = time.now() + this.#interval(pinged.trunk)
    try {
      await this.#store(pinged, await this.#outcomes(pinged.trunk))
    } catch (error) {
      onProblem(`the trunk ${pinged.trunk.trunk_id} cannot be pinged`, error)
    } finally {
      pinged.isUnderWay = false
    }
  }

  async #outcomes({ termination_uri: host, details }: OutboundTrunk): Promise<TrunkPing['targets']> {
    const userAgent = this.#userAgent
    if (userAgent === null) return []
    const targets = await userAgent.locate(trunkHop(host, details))
    return Promise.all(
      targets.slice(0, MAX_TARGETS).map(async target => {
        const outcome = await this.#server(userAgent, target, host)
        const isAnswered = outcome.type === 'answered'
        return {
          transport: target.transport,
          address: target.address,
          port: target.port,
          sip_status: isAnswered ? outcome.status : null,
          error: isAnswered ? null : `${outcome.code}: ${outcome.detail}`.slice(0, 200),
          round_trip_ms: isAnswered ? Math.round(outcome.afterMs) : null,
        }
      }),
    )
  }

  /** The OPTIONS of another trunk to the same server counts for this one too. */
  #server(userAgent: Pinger, target: Target, host: string): Promise<PingOutcome> {
    const key = `${target.transport}|${target.address}|${target.port}`
    const now = this.#options.time.now()
    const recent = this.#servers.get(key)
    if (recent !== undefined && now - recent.at < MIN_INTERVAL_MS) return recent.outcome
    const uri = trunkUri(null, host)
    const outcome = userAgent.ping(target, { uri, from: { displayName: undefined, uri, params: new Map() } })
    this.#servers.set(key, { at: now, outcome })
    void outcome.then(({ type }) => {
      if (type === 'answered') this.#answered++
      else this.#unanswered++
    })
    return outcome
  }

  async #store(pinged: Pinged, targets: TrunkPing['targets']): Promise<void> {
    const { database, engineId, time, wallClock } = this.#options
    const state = stateOf(targets)
    if (this.#isStopped || (state === pinged.state && time.now() - pinged.storedAt < STORE_MS)) return
    pinged.state = state
    const { scope, trunk_id } = pinged.trunk
    const ping = { state, targets, checked_at: new Date(wallClock()).toISOString() }
    try {
      await database.transaction(scope, tx => saveTrunkPing(tx, scope, trunk_id, engineId, ping))
      pinged.storedAt = time.now()
      this.#writes.worked()
    } catch (error) {
      this.#writes.failed(error)
    }
  }
}

/** A name that resolves to nothing has no server that answers. */
function stateOf(targets: TrunkPing['targets']): TrunkPing['state'] {
  const answered = targets.filter(({ sip_status }) => sip_status !== null).length
  if (answered === 0) return 'unreachable'
  return answered === targets.length ? 'reachable' : 'partly_reachable'
}

function keyOf({ scope, trunk_id }: OutboundTrunk): string {
  return `${scope.tenant_id}/${trunk_id}`
}
