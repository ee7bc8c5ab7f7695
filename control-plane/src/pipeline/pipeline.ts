import { type RawInput, Refusal } from '@parley/contract'
import type { Bus, Database } from '@parley/store'
import type { Logger } from 'pino'
import type { Platform } from '../context.ts'
import { errorFacts } from '../error-facts.ts'
import { LargeBody } from '../reading/large-body.ts'
import { type ReadingLimits, ReadingThreads } from '../reading/reading-threads.ts'
import { type Answer, done } from './answer.ts'
import { type Caller, Callers, type Credentials } from './caller.ts'
import { failureOf } from './failure.ts'
import { KeyHolders } from './key-holders.ts'
import { type Heard, notJson, parseRequest } from './parse-request.ts'
import { DEFAULT_RATE_LIMITS, RateLimiter, type RateLimits, type RateStanding } from './rate-limits.ts'
import { mayCall, type Route } from './route.ts'
import { RunChanges } from './run-changes.ts'
import {
  afterCommit,
  audit,
  noSideEffects,
  type PipelineDependencies,
  run,
  type SideEffects,
  type Work,
} from './work.ts'

export interface PipelineOptions {
  readonly database: Database
  readonly bus: Bus
  readonly platform: Platform
  readonly log: Logger
  /** Default: those of the API. */
  readonly rates?: RateLimits
  /** For how long an external operation owns its record. Default 120 000. */
  readonly leaseMs?: number
  /** Of threads that read large bodies. Default: those of the API. */
  readonly reading?: Partial<ReadingLimits>
}

/** The sender of a request and how its limits stand, or the answer that ends it here. */
export interface Admission {
  readonly caller: Caller | null
  /** Null where the sender could not be looked up. */
  readonly standing: RateStanding | null
  readonly refused: Answer | null
}

/** What `invoke` answers, with what the answer's headers and the log say of it. */
export interface Invoked extends Admission {
  readonly answer: Answer
}

/** A message of the tool protocol without the body of the call. */
export interface SplitMessage {
  readonly body: unknown
  readonly large: LargeBody | null
  readonly refused: Answer | null
}

/**
 * The one way from a request to its answer, whatever it came by: authenticate, count, check the role, parse, run, check
 * the answer, keep it. Nothing here throws: what goes wrong is an answer with the error envelope.
 */
export class Pipeline {
  readonly #shop: PipelineDependencies
  readonly #bus: Bus
  readonly #log: Logger
  readonly #holders: KeyHolders
  readonly #limiter: RateLimiter
  readonly #callers: Callers

  constructor({ database, bus, platform, log, rates, leaseMs, reading }: PipelineOptions) {
    this.#shop = {
      database,
      platform,
      bus,
      news: new RunChanges(bus),
      threads: new ReadingThreads(reading),
      leaseMs: leaseMs ?? 120_000,
    }
    this.#bus = bus
    this.#log = log
    this.#limiter = new RateLimiter(rates ?? DEFAULT_RATE_LIMITS, platform.now)
    const onTouchFailed = (error: unknown) => log.warn({ err: errorFacts(error) }, 'last uses of keys were not noted')
    this.#holders = new KeyHolders({ database, bus, now: platform.now, onTouchFailed })
    this.#callers = new Callers(this.#holders, this.#limiter)
  }

  /** All of it at once: `admit`, then `perform`. */
  async invoke(route: Route, raw: RawInput, credentials: Credentials, requestId: string): Promise<Invoked> {
    const identified = await this.identify(credentials, requestId)
    if (identified.caller === null) return { ...identified, answer: identified.refused! }
    const admission = await this.admit(route, identified.caller, requestId)
    const answer = admission.refused ?? (await this.perform(route, raw, identified.caller, requestId))
    return { ...admission, answer }
  }

  /** Who asks. A request without a valid key counts against its address and is refused. */
  async identify(credentials: Credentials, requestId: string): Promise<Admission> {
    try {
      const { caller, standing, refusal } = await this.#callers.identify(credentials)
      return { caller, standing, refused: refusal === null ? null : this.#failed(refusal, requestId) }
    } catch (error) {
      return { caller: null, standing: null, refused: this.#failed(error, requestId) }
    }
  }

  /** Counts a request of the caller, and checks that its role may make it; `route` null: one that reaches no operation. */
  async admit(route: Route | null, caller: Caller, requestId: string): Promise<Admission> {
    const { principal, keyId } = caller
    const { standing, refusal } = this.#limiter.takeKey(keyId, principal.rate, route?.operation.rate ?? 'default')
    if (refusal !== null) return { caller, standing, refused: this.#failed(refusal, requestId, route) }
    if (route === null || mayCall(principal.role, route)) return { caller, standing, refused: null }
    const message = `this needs the role ${route.needs}; the key has ${principal.role}`
    await this.#audit({ route, principal, requestId }, noSideEffects(), 'denied')
    const refused = this.#failed(new Refusal('forbidden', message, { reason: 'role' }), requestId, route)
    return { caller, standing, refused }
  }

  /** Counts a request that needs no key against its address. */
  admitAddress(address: string, requestId: string): Omit<Admission, 'caller'> {
    const { standing, refusal } = this.#limiter.takeAddress(address)
    return { standing, refused: refusal === null ? null : this.#failed(refusal, requestId) }
  }

  /** A large message of tools, taken apart: the message, and the body of the tool's call; or the answer that ends it here. */
  async split(sent: LargeBody, caller: Caller, requestId: string): Promise<SplitMessage> {
    try {
      const outcome = await this.#shop.threads.split(caller.principal.scope.tenant_id, { message: sent.bytes })
      if (outcome.state === 'no_json') throw notJson()
      if (outcome.state === 'too_large')
        throw new Refusal('invalid_request', 'the message is too large', { reason: 'body_too_large' })
      const { message, body } = outcome
      return { body: message, large: body === null ? null : new LargeBody(body), refused: null }
    } catch (error) {
      return { body: null, large: null, refused: this.#failed(error, requestId) }
    }
  }

  /** Parses and runs what the caller may do. */
  async perform(route: Route, raw: RawInput, caller: Caller, requestId: string): Promise<Answer> {
    const { principal, name } = caller
    let heard: Heard
    try {
      heard = await parseRequest(route, raw, principal.scope, this.#shop)
    } catch (error) {
      return this.#failed(error, requestId)
    }
    const { input, idempotencyKey: key, reading } = heard
    const record =
      key === null || route.kind === 'read'
        ? null
        : { principal: name, operation: route.operation.id, key, requestHash: heard.requestHash() }
    return this.#work({ route, input, principal, requestId, record, reading })
  }

  /** News of runs, as this process hears it. */
  get news(): RunChanges {
    return this.#shop.news
  }

  /** Notes the last uses of keys. Requests must be over. */
  async close(): Promise<void> {
    this.#shop.news.close()
    await this.#shop.threads.close()
    await this.#holders.close()
  }

  async #work(work: Work): Promise<Answer> {
    const said = noSideEffects()
    try {
      const committed = await run(this.#shop, work, said)
      this.#announce(said)
      const { status, text } = await afterCommit(this.#shop, work, committed)
      return done(status, text)
    } catch (error) {
      const answer = this.#failed(error, work.requestId, work.route)
      // It may have been committed: whoever keeps copies looks again.
      if (answer.error?.error.outcome === 'unknown') this.#announce(said)
      await this.#auditFailure(work, said, error, answer)
      return answer
    }
  }

  #announce({ announced, woken }: SideEffects): void {
    for (const { topic, id } of announced) {
      // The bus tells this process as well, but later than the answer that is on its way.
      if (topic === 'keys' || topic === 'tenants') this.#holders.drop(id)
      this.#bus.publish(topic, id)
    }
    for (const work of woken) this.#shop.platform.wake(work)
  }

  /** Every 403 is `denied`; what a handler of a write refused or broke at is `failed`. What is unknown, or ran into its own repetition, is neither. */
  async #auditFailure(work: Work, said: SideEffects, error: unknown, answer: Answer): Promise<void> {
    const { code, outcome, details } = answer.error!.error
    if (answer.status === 403) return this.#audit(work, said, 'denied')
    const isRepetition = code === 'idempotency_conflict' || details?.reason === 'in_progress'
    if (work.route.kind === 'read' || outcome === 'unknown' || isRepetition) return
    // The database is away: it would only make the caller wait longer.
    if (answer.retryAfterSeconds !== null && !(error instanceof Refusal)) return
    return this.#audit(work, said, 'failed')
  }

  /** The answer stands without it. */
  async #audit(
    work: Pick<Work, 'route' | 'principal' | 'requestId'>,
    said: SideEffects,
    outcome: 'denied' | 'failed',
  ): Promise<void> {
    try {
      await this.#shop.database.transaction(work.principal.scope, tx => audit(tx, work, said, outcome))
    } catch (error) {
      const about = { request_id: work.requestId, operation: work.route.operation.id, outcome }
      this.#log.error({ ...about, err: errorFacts(error) }, 'an audit item was not written')
    }
  }

  /** Logs what nobody meant to happen. */
  report(error: unknown, requestId: string): void {
    this.#log.error({ request_id: requestId, err: errorFacts(error) }, 'a request failed')
  }

  #failed(error: unknown, requestId: string, route: Route | null = null): Answer {
    const { status, envelope, retryAfterSeconds, unexpected } = failureOf(error)
    const about = { request_id: requestId, ...(route !== null && { operation: route.operation.id }) }
    if (unexpected) this.#log.error({ ...about, err: errorFacts(error) }, 'a request failed')
    else if (error instanceof Refusal && route !== null && !route.declared.has(`${error.code}/${error.reason ?? ''}`))
      this.#log.warn({ ...about, refused: `${error.code}/${error.reason ?? ''}` }, 'a refusal that is not declared')
    return { status, text: JSON.stringify(envelope), error: envelope, retryAfterSeconds }
  }
}
