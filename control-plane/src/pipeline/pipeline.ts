import { type RawInput, Refusal } from '@parley/contract'
import { runTraceIds, type UnixMs } from '@parley/kernel'
import type { Bus, Database, Topic } from '@parley/store'
import type { Logger } from 'pino'
import type { Platform } from '../context.ts'
import { errorFacts } from '../error-facts.ts'
import { LargeBody } from '../reading/large-body.ts'
import { type ReadingLimits, ReadingThreads } from '../reading/reading-threads.ts'
import { type Answer, successAnswer } from './answer.ts'
import { type AuthenticatedClient, Authenticator, type Credentials } from './authenticator.ts'
import { CredentialCache, TOPICS } from './credential-cache.ts'
import {
  afterCommit,
  audit,
  execute,
  noSideEffects,
  type PipelineDependencies,
  type PreparedRequest,
  type SideEffects,
  takeOnce,
} from './execute-request.ts'
import { failureOf } from './failure.ts'
import { invalidRequest, type ParsedRequest, parseRequest } from './parse-request.ts'
import { DEFAULT_RATE_LIMITS, RateLimiter, type RateLimitStatus, type RateLimits } from './rate-limits.ts'
import { mayCall, type Route } from './route.ts'
import { RunChanges } from './run-changes.ts'

interface PipelineOptions {
  readonly database: Database
  readonly bus: Bus
  readonly platform: Platform
  readonly log: Logger
  /** Default: those of the API. */
  readonly rates?: RateLimits
  /** Lease of an external operation on its idempotency record, in ms. Default 120 000. */
  readonly leaseMs?: number
  /** Limits of the worker threads for large bodies. Default: those of `ReadingLimits`. */
  readonly reading?: Partial<ReadingLimits>
}

/** The client of a request and its rate limit, or the answer that refuses the request. */
export interface Admission {
  readonly client: AuthenticatedClient | null
  /** Null when the lookup of the key failed. */
  readonly rateLimit: RateLimitStatus | null
  readonly refused: Answer | null
}

/** The result of `invoke`, with what response headers and the log need. */
interface InvocationResult extends Admission {
  readonly answer: Answer
}

/** An MCP message, with the body of its tool call taken out. */
interface SplitMessage {
  readonly body: unknown
  readonly large: LargeBody | null
  readonly refused: Answer | null
}

/**
 * Turns every request, by HTTP or MCP, into its answer: authenticate, rate-limit, check the role, parse, execute, check
 * the answer, store it. Does not throw: an error becomes an answer with the error envelope.
 */
export class Pipeline {
  readonly #dependencies: PipelineDependencies
  readonly #bus: Bus
  readonly #log: Logger
  readonly #credentialCache: CredentialCache
  readonly #limiter: RateLimiter
  readonly #authenticator: Authenticator

  constructor({ database, bus, platform, log, rates, leaseMs, reading }: PipelineOptions) {
    this.#dependencies = {
      database,
      platform,
      bus,
      runChanges: new RunChanges(bus),
      threads: new ReadingThreads(reading),
      leaseMs: leaseMs ?? 120_000,
    }
    this.#bus = bus
    this.#log = log
    this.#limiter = new RateLimiter(rates ?? DEFAULT_RATE_LIMITS, platform.now)
    const onTouchFailed = (error: unknown) =>
      log.warn({ err: errorFacts(error) }, 'the last uses of API keys and sessions were not stored')
    this.#credentialCache = new CredentialCache({ database, bus, now: platform.now, onTouchFailed })
    this.#authenticator = new Authenticator(this.#credentialCache, this.#limiter)
  }

  /** Authenticates, admits and performs a request. */
  async invoke(route: Route, raw: RawInput, credentials: Credentials, requestId: string): Promise<InvocationResult> {
    const identified = await this.identify(credentials, requestId)
    if (identified.client === null) return { ...identified, answer: identified.refused! }
    const admission = await this.admit(route, identified.client, requestId)
    const answer = admission.refused ?? (await this.perform(route, raw, identified.client, requestId))
    return { ...admission, answer }
  }

  /** Authenticates a request. One without valid credentials counts against its address and is refused. */
  async identify(credentials: Credentials, requestId: string): Promise<Admission> {
    try {
      const { client, rateLimit, refusal } = await this.#authenticator.identify(credentials)
      return { client, rateLimit, refused: refusal === null ? null : this.#failed(refusal, requestId) }
    } catch (error) {
      return { client: null, rateLimit: null, refused: this.#failed(error, requestId) }
    }
  }

  /** Counts a request against the rate limit of the key or the member and checks the role; `route` null: no operation matches the path. */
  async admit(route: Route | null, client: AuthenticatedClient, requestId: string): Promise<Admission> {
    const { principal } = client
    const { rateLimit, refusal } = this.#limiter.takeKey(
      principal.ref.id,
      principal.rate,
      route?.operation.rate ?? 'default',
    )
    if (refusal !== null) return { client, rateLimit, refused: this.#failed(refusal, requestId, route) }
    if (route === null || mayCall(principal.role, route)) return { client, rateLimit, refused: null }
    const message = `${route.operation.id} needs the role ${route.minimumRole}; the ${principal.ref.kind === 'user' ? 'member' : 'key'} has the role ${principal.role}`
    await this.#audit({ route, principal, requestId }, noSideEffects(), 'denied')
    const refused = this.#failed(new Refusal('forbidden', message, { reason: 'role' }), requestId, route)
    return { client, rateLimit, refused }
  }

  /** Whether the credentials belong to a client now; false also while the database cannot tell. Counts against no rate limit. */
  async hasAccess(credentials: Credentials): Promise<boolean> {
    try {
      return await this.#authenticator.hasAccess(credentials)
    } catch {
      return false
    }
  }

  /** Calls `onRevoked` once the credentials of `client` are no longer valid, until the returned function is called. */
  watchAccess(client: AuthenticatedClient, credentials: Credentials, onRevoked: () => void): () => void {
    return this.#credentialCache.watch(client.holder, () => {
      void this.hasAccess(credentials).then(hasAccess => {
        if (!hasAccess) onRevoked()
      })
    })
  }

  /** Counts a request that needs no key against its address. */
  admitAddress(address: string, requestId: string): Omit<Admission, 'client'> {
    const { rateLimit, refusal } = this.#limiter.takeAddress(address)
    return { rateLimit, refused: refusal === null ? null : this.#failed(refusal, requestId) }
  }

  /** The answer to a request from an address without tokens, before its secret is looked up; null: it has some. Counts nothing. */
  refusedAddress(address: string, requestId: string): Omit<Admission, 'client'> | null {
    if (this.#limiter.hasAddressTokens(address)) return null
    const { rateLimit, refusal } = this.#limiter.refuseAddress(address)
    return { rateLimit, refused: this.#failed(refusal, requestId) }
  }

  /** Counts an attempt to sign in against its address. */
  admitSignIn(address: string, requestId: string): Omit<Admission, 'client'> {
    const { rateLimit, refusal } = this.#limiter.takeSignIn(address)
    return { rateLimit, refused: refusal === null ? null : this.#failed(refusal, requestId) }
  }

  /** Counts a call that a page starts with a site key against its address. */
  admitSiteCall(address: string, requestId: string): Omit<Admission, 'client'> {
    const { rateLimit, refusal } = this.#limiter.takeSiteCall(address)
    return { rateLimit, refused: refusal === null ? null : this.#failed(refusal, requestId) }
  }

  /** Splits a large MCP message into the message and the body of its tool call, or returns the answer that refuses it. */
  async split(sent: LargeBody, client: AuthenticatedClient, requestId: string): Promise<SplitMessage> {
    try {
      const outcome = await this.#dependencies.threads.split(client.principal.scope.tenant_id, { message: sent.bytes })
      if (outcome.state === 'misformed') throw invalidRequest([outcome.issue])
      if (outcome.state === 'too_large')
        throw new Refusal(
          'invalid_request',
          'the message is too large: beside the body of its tool call it may hold about 1 MiB',
          { reason: 'body_too_large' },
        )
      const { message, body } = outcome
      return { body: message, large: body === null ? null : new LargeBody(body), refused: null }
    } catch (error) {
      return { body: null, large: null, refused: this.#failed(error, requestId) }
    }
  }

  /**
   * Parses and executes an admitted request. `isConnected`: whether the client can still receive the answer; one that is delivered
   * once is kept for a retry otherwise.
   */
  async perform(
    route: Route,
    raw: RawInput,
    client: AuthenticatedClient,
    requestId: string,
    isConnected: () => boolean = () => true,
  ): Promise<Answer> {
    const { principal, presented, name } = client
    let parsed: ParsedRequest
    try {
      parsed = await parseRequest(route, raw, principal.scope, this.#dependencies)
    } catch (error) {
      return this.#failed(error, requestId)
    }
    const { input, idempotencyKey: key, reading } = parsed
    const { deliversOnceMs } = route.operation
    const record =
      key === null || route.kind === 'read'
        ? null
        : { principal: name, operation: route.operation.id, key, requestHash: parsed.requestHash(), deliversOnceMs }
    return this.#execute({ route, input, principal, presented, requestId, record, reading }, isConnected)
  }

  /** Base URL under which others reach this server. */
  get baseUrl(): string {
    return this.#dependencies.platform.baseUrl()
  }

  /** Lets a request wait for changes of a run. */
  get runChanges(): RunChanges {
    return this.#dependencies.runChanges
  }

  /** Stores the last uses of keys and closes the worker threads. Call it after all requests have ended. */
  async close(): Promise<void> {
    this.#dependencies.runChanges.close()
    await this.#dependencies.threads.close()
    await this.#credentialCache.close()
  }

  async #execute(request: PreparedRequest, isConnected: () => boolean): Promise<Answer> {
    const effects = noSideEffects()
    const { now } = this.#dependencies.platform
    const beganAt = now()
    try {
      const committed = await execute(this.#dependencies, request, effects)
      this.#notify(request, effects)
      const { status, text } = await afterCommit(this.#dependencies, request, committed)
      if (isConnected()) await takeOnce(this.#dependencies, request)
      const run = effects.auditedResource?.kind === 'run' ? effects.auditedResource.id : null
      if (run === null) return successAnswer(status, text)
      if (request.route.operation.id === 'runs.create') this.#traceAdmission(request, run, beganAt, status)
      return successAnswer(status, text, runTraceIds(run).traceId)
    } catch (error) {
      const answer = this.#failed(error, request.requestId, request.route)
      // The change may have been committed: subscribers must refresh their copies.
      if (answer.error?.error.outcome === 'unknown') this.#notify(request, effects)
      await this.#auditFailure(request, effects, error, answer)
      return answer
    }
  }

  /** The request is the root of the run's trace; its span has the id that the run's process expects. */
  #traceAdmission({ route, principal }: PreparedRequest, runId: string, startMs: UnixMs, status: number): void {
    const { trace, now } = this.#dependencies.platform
    if (trace === undefined) return
    const { traceId, request: spanId } = runTraceIds(runId)
    const { method, path, id } = route.operation
    trace({
      traceId,
      spanId,
      parentId: null,
      name: `${method} ${path}`,
      kind: 'server',
      startMs,
      endMs: now(),
      attributes: {
        'http.request.method': method,
        'http.route': path,
        'http.response.status_code': status,
        'parley.operation': id,
        'parley.run_id': runId,
        'parley.tenant_id': principal.scope.tenant_id,
      },
      error: null,
    })
  }

  /** Notifies this and other processes of a change. */
  publish(topic: Topic, id: string): void {
    // The bus also reports this to this process, but only after the answer has been sent.
    if (TOPICS.some(cached => cached === topic)) this.#credentialCache.invalidate(id)
    this.#bus.publish(topic, id)
  }

  #notify(
    { principal }: Pick<PreparedRequest, 'principal'>,
    { notifications, runsToWake, linksToDeliver, dueWork }: SideEffects,
  ): void {
    const { platform } = this.#dependencies
    for (const { topic, id } of notifications) this.publish(topic, id)
    for (const run of runsToWake) platform.wake(run)
    for (const link of linksToDeliver) platform.links.deliver(link)
    for (const work of dueWork) platform.due(work, principal.scope)
  }

  /** Audits a 401 (the key was revoked meanwhile) and a 403 as `denied` and a failed write as `failed`; unknown outcomes and conflicts with a repetition are not audited. */
  async #auditFailure(request: PreparedRequest, effects: SideEffects, error: unknown, answer: Answer): Promise<void> {
    const { outcome } = answer.error!.error
    if (answer.status === 401 || answer.status === 403) return this.#audit(request, effects, 'denied')
    const isRepetition =
      error instanceof Refusal &&
      (error.code === 'idempotency_conflict' || error.reason === 'in_progress' || error.reason === 'preview_consumed')
    if (request.route.kind === 'read' || outcome === 'unknown' || isRepetition) return
    // The database is unavailable: another attempt would only delay the answer.
    if (answer.retryAfterSeconds !== null && !(error instanceof Refusal)) return
    return this.#audit(request, effects, 'failed')
  }

  /** A failure to write the audit item is logged and does not change the answer. */
  async #audit(
    request: Pick<PreparedRequest, 'route' | 'principal' | 'requestId'>,
    effects: SideEffects,
    outcome: 'denied' | 'failed',
  ): Promise<void> {
    try {
      await this.#dependencies.database.transaction(request.principal.scope, tx => audit(tx, request, effects, outcome))
    } catch (error) {
      const about = { request_id: request.requestId, operation: request.route.operation.id, outcome }
      this.#log.error({ ...about, err: errorFacts(error) }, 'an audit item was not written')
    }
  }

  /** Logs an unexpected error. */
  report(error: unknown, requestId: string): void {
    this.#log.error({ request_id: requestId, err: errorFacts(error) }, 'a request failed')
  }

  /** The answer to an error; an unexpected one is logged. */
  failed(error: unknown, requestId: string): Answer {
    return this.#failed(error, requestId)
  }

  #failed(error: unknown, requestId: string, route: Route | null = null): Answer {
    const { status, envelope, retryAfterSeconds, unexpected } = failureOf(error)
    const about = { request_id: requestId, ...(route !== null && { operation: route.operation.id }) }
    if (unexpected) this.#log.error({ ...about, err: errorFacts(error) }, 'a request failed')
    else if (
      error instanceof Refusal &&
      route !== null &&
      !route.declaredRefusals.has(`${error.code}/${error.reason ?? ''}`)
    )
      this.#log.warn({ ...about, refused: `${error.code}/${error.reason ?? ''}` }, 'a refusal that is not declared')
    return { status, text: JSON.stringify(envelope), error: envelope, retryAfterSeconds }
  }
}
