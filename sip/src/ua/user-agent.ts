import { type Ms, TransientMap, TransientSet } from '@parley/kernel'
import { DigestServer } from '../auth/digest-server.ts'
import { KeyedHash } from '../auth/keyed-hash.ts'
import { Dialog, dialogIdOf } from '../dialog/dialog.ts'
import type { DialogSnapshot } from '../dialog/dialog-snapshot.ts'
import { SipError } from '../errors.ts'
import type { SipRequest } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import { DEFAULT_TIMERS } from '../transaction/timers.ts'
import { TransactionLayer } from '../transaction/transaction-layer.ts'
import type { Flow, NextHop, Target, TransportInput } from '../transport/transport.ts'
import { type ByeOutcome, sendBye } from './bye.ts'
import { CallIdentity } from './call-identity.ts'
import { type CancelOutcome, sendCancel } from './cancel.ts'
import { abilityHeaders, DIGIT_BODIES, EXTENSIONS, SESSION_BODIES, WITHOUT_100REL } from './capabilities.ts'
import { EventDispatcher } from './event-dispatcher.ts'
import { receiveInDialog } from './in-dialog.ts'
import type { InviteAttempt } from './invite-attempt.ts'
import { DialogSession } from './invite-session.ts'
import { createOutboundRequest, identityOf, sendOutboundRequest } from './outbound-request.ts'
import { pingTarget } from './ping.ts'
import { Registration, type RegistrationOptions } from './registration/registration.ts'
import { type AcceptedRequest, RequestAdmission } from './request-admission.ts'
import type { HeaderReason, InviteSession, OutboundCall } from './session.ts'
import { SessionCore } from './session-core.ts'
import type { UaContext } from './ua-context.ts'
import { UdpOnlyTargets } from './udp-only-targets.ts'
import type {
  OutboundRequest,
  PingOutcome,
  RequestOutcome,
  UserAgentLimits,
  UserAgentOptions,
} from './user-agent-options.ts'

const DEFAULT_LIMITS: UserAgentLimits = {
  sessions: 2000,
  serverTransactions: 20_000,
  serverTransactionsPerFlow: 10_000,
  finishedServerTransactions: 50_000,
  clientTransactions: 20_000,
  retryAfterS: 5,
}

/** A SIP user agent, client and server (RFC 3261 section 8), without sockets or clocks of its own. */
export class UserAgent {
  readonly #ctx: UaContext
  readonly #limits: UserAgentLimits
  readonly #onInvite: (session: InviteSession) => void
  readonly #admission: RequestAdmission
  readonly #sessions = new TransientSet<DialogSession>()
  readonly #dialogs = new TransientMap<string, DialogSession>()
  /** Dialogs of other processes that `bye` has restored, so that a second BYE has a higher CSeq number. */
  readonly #restored = new WeakMap<DialogSnapshot, Dialog>()
  readonly #registrations = new Set<Registration>()
  #closed = false
  #closing: { readonly promise: Promise<void>; readonly done: () => void } | undefined

  constructor(options: UserAgentOptions) {
    const { transport, random } = options
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#onInvite = options.onInvite
    const log: UaContext['log'] = (level, event, detail) => {
      try {
        options.log?.({ level, event, detail })
      } catch {
        // A failing log function must not affect the calls.
      }
    }
    const pump = new EventDispatcher(options.time, error => log('error', 'unexpected_exception', describe(error)))
    const timers = { ...DEFAULT_TIMERS, ...options.timers }
    const layer = new TransactionLayer({
      time: pump.time,
      random,
      transport,
      timers,
      clientLimit: this.#limits.clientTransactions,
      serverLimits: {
        total: this.#limits.serverTransactions,
        perFlow: this.#limits.serverTransactionsPerFlow,
        finished: this.#limits.finishedServerTransactions,
      },
      user: {
        onRequest: (request, flow) => this.#onRequest(request, flow),
        onAck: (request, flow) => this.#sessionOf(request, flow)?.receiveAck(request, flow),
      },
    })
    this.#ctx = {
      time: pump.time,
      random,
      transport,
      layer,
      pump,
      timers,
      userAgentName: options.userAgentName,
      acceptedInfoTypes: options.acceptedInfoTypes ?? DIGIT_BODIES,
      sessionTimer: options.sessionTimer ?? {},
      streamRefusals: new UdpOnlyTargets(pump.time),
      statelessTags: new KeyedHash(random),
      log,
    }
    this.#admission = new RequestAdmission(
      this.#ctx,
      {
        guard: options.guard,
        digest: new DigestServer(pump.time, random),
        retryAfterS: this.#limits.retryAfterS,
      },
      {
        busy: () =>
          this.#closing !== undefined || this.#sessions.size >= this.#limits.sessions
            ? this.#limits.retryAfterS
            : undefined,
        takeInvite: (request, flow, accepted) => this.#takeInvite(request, flow, accepted),
      },
    )
    transport.onInput(input => pump.run(() => this.#onInput(input)))
  }

  #onInput(input: TransportInput): void {
    if (this.#closed) return
    if (input.type === 'message' && !input.result.ok) {
      this.#admission.receiveRefused(input.result, input.flow)
      if (input.result.fatal) this.#ctx.transport.submit({ type: 'close-flow', flow: input.flow })
      return
    }
    this.#ctx.layer.handle(input)
    if (input.type === 'flow-closed') for (const session of this.#sessions) session.onFlowClosed(input.flow, input.code)
  }

  #onRequest(request: SipRequest, flow: Flow): void {
    const id = dialogIdOf(request)
    const session = this.#sessionOf(request, flow)
    if (session === undefined || id === undefined) this.#admission.receive(request, flow)
    else receiveInDialog(this.#ctx, session, id, request, flow)
  }

  /** The session whose dialog the request is in; undefined also when it comes from elsewhere than the dialog's peer. */
  #sessionOf(request: SipRequest, flow: Flow): DialogSession | undefined {
    const session = this.#dialogs.get(dialogIdOf(request) ?? '')
    if (session === undefined || session.core.takesFrom(flow)) return session
    const { transport, remote } = flow
    const detail = `${request.method} in the dialog of call ${request.callId} over ${transport} from ${remote.address}`
    this.#ctx.log('warn', 'foreign_request', detail)
    return undefined
  }

  #takeInvite(request: SipRequest, flow: Flow, accepted: AcceptedRequest): ServerTransaction | undefined {
    let session: DialogSession | undefined
    const transaction = this.#ctx.layer.servers.start(request, flow, {
      onCancel: cancel => session?.receiveCancel(cancel),
    })
    if (transaction === undefined) return undefined
    session = this.#session('inbound', transaction.request, flow, new CallIdentity(accepted))
    session.startInbound(transaction)
    const onInvite = accepted.onInvite ?? this.#onInvite
    try {
      onInvite(session)
    } catch (error) {
      // If the application fails, the caller must not hear ringing.
      this.#ctx.log('error', 'on_invite_failed', describe(error))
      if (session.state === 'incoming') session.reject(500)
      else session.hangUp()
    }
    return transaction
  }

  #session(
    direction: 'inbound' | 'outbound',
    invite: SipRequest,
    flow: Flow | undefined,
    identity: CallIdentity,
  ): DialogSession {
    const session: DialogSession = new DialogSession(
      new SessionCore({
        ctx: this.#ctx,
        direction,
        identity,
        invite,
        flow,
        table: {
          add: id => this.#dialogs.set(id, session),
          remove: id => {
            if (this.#dialogs.get(id) === session) this.#dialogs.delete(id)
          },
        },
        onEnded: () => {
          leave()
          if (this.#sessions.size === 0) this.#closing?.done()
        },
      }),
    )
    const leave = this.#sessions.add(session)
    return session
  }

  /**
   * Starts a call. Events follow; nothing is sent synchronously.
   *
   * Errors: "draining", "too_many_sessions" (retryable); SipMessageError for a field of `call` that cannot be sent.
   */
  invite(call: OutboundCall): InviteSession {
    if (this.#closing !== undefined) {
      throw new SipError('draining', 'this user agent is closing and starts no new calls')
    }
    if (this.#sessions.size >= this.#limits.sessions) {
      throw new SipError(
        'too_many_sessions',
        `${this.#limits.sessions} calls are in progress, which is the limit; try again later`,
      )
    }
    // A reliable 18x to an INVITE without an offer would have to offer, and want its answer in the PRACK (RFC 3262 section 5).
    const abilities = abilityHeaders(call.body === undefined ? WITHOUT_100REL : EXTENSIONS)
    const invite = createOutboundRequest(this.#ctx, 'INVITE', call, abilities, call.body)
    const session = this.#session('outbound', invite, undefined, identityOf(this.#ctx, call))
    session.startOutbound(call)
    return session
  }

  /**
   * Asks a peer what it can do, or whether it is there (RFC 3261 section 11.1). The promise never rejects; a target that
   * cannot be written throws SipMessageError.
   */
  options(target: OutboundRequest): Promise<RequestOutcome> {
    return sendOutboundRequest(this.#ctx, 'OPTIONS', target, [['Accept', SESSION_BODIES.join(', ')]])
  }

  /** The targets of a hop (RFC 3263), those that failed recently last; empty: nothing was found. */
  locate(hop: NextHop): Promise<readonly Target[]> {
    return new Promise(resolve => this.#ctx.layer.sender.resolve(hop, resolve))
  }

  /**
   * Sends OPTIONS without credentials to one target: a dead one is tried last from then on, until it answers or 90 s have
   * passed. The promise never rejects. `limitMs`: longest wait, default 8 s. A field of `request` that cannot be written
   * throws SipMessageError.
   */
  ping(target: Target, request: OutboundRequest, limitMs?: Ms): Promise<PingOutcome> {
    return pingTarget(this.#ctx, target, request, limitMs)
  }

  /**
   * Registers at a registrar (RFC 3261 section 10.2) and refreshes the binding until it is stopped. Nothing is sent synchronously.
   * Throws SipMessageError for a field that cannot be sent, and "draining".
   */
  register(options: RegistrationOptions): Registration {
    if (this.#closing !== undefined) throw new SipError('draining', 'this user agent is closing and sends no REGISTER')
    const registration: Registration = new Registration(this.#ctx, options, () =>
      this.#registrations.delete(registration),
    )
    this.#registrations.add(registration)
    return registration
  }

  /**
   * Sends a BYE in a dialog that another process had: over a connection of its own, with a CSeq number that leaves
   * `sequenceGap` (default 1000) behind the last one known; a further one for the same snapshot object continues from there.
   * The promise never rejects.
   */
  bye(
    snapshot: DialogSnapshot,
    options: { readonly sequenceGap?: number; readonly reason?: HeaderReason } = {},
  ): Promise<ByeOutcome> {
    const dialog = this.#restored.get(snapshot) ?? this.#restore(snapshot, options.sequenceGap ?? 1000)
    if (dialog === undefined) {
      return Promise.resolve({ confirmed: false, status: undefined, detail: 'the dialog cannot be read' })
    }
    const identity = new CallIdentity({ serverName: dialog.serverName })
    return new Promise(resolve => {
      sendBye(this.#ctx, { dialog, identity, flow: undefined, reason: options.reason }, resolve)
    })
  }

  #restore(snapshot: DialogSnapshot, sequenceGap: number): Dialog | undefined {
    const dialog = Dialog.restore(snapshot)
    if (dialog === undefined) return undefined
    dialog.skipSequence(sequenceGap - 1)
    this.#restored.set(snapshot, dialog)
    return dialog
  }

  /**
   * Sends the CANCEL for an INVITE that another process sent, to the same address over a connection of its own
   * (RFC 3261 section 9.1): the far end matches it by branch and sent-by. The promise never rejects.
   */
  cancel(attempt: InviteAttempt, options: { readonly reason?: HeaderReason } = {}): Promise<CancelOutcome> {
    return new Promise(resolve => sendCancel(this.#ctx, { attempt, reason: options.reason }, resolve))
  }

  get sessionCount(): number {
    return this.#sessions.size
  }

  /** Everything that is remembered at once, for tests and metrics: zero some time after the last call. */
  get footprint(): {
    readonly sessions: number
    readonly dialogs: number
    readonly transactions: number
    readonly sends: number
  } {
    return {
      sessions: this.#sessions.size,
      dialogs: this.#dialogs.size,
      transactions: this.#ctx.layer.size,
      sends: this.#ctx.layer.sender.pending,
    }
  }

  /**
   * Hangs up everything; resolves when every session has ended, or after 64*T1 at the latest. Then nothing is sent any more.
   * Meanwhile a new INVITE gets 503 with Retry-After, and `invite` throws "draining".
   */
  close(): Promise<void> {
    if (this.#closing !== undefined) return this.#closing.promise
    const { promise, resolve } = Promise.withResolvers<void>()
    const { time, timers, layer } = this.#ctx
    const stop = () => {
      if (this.#closed) return
      this.#closed = true
      for (const session of [...this.#sessions]) session.abandon()
      for (const registration of [...this.#registrations]) registration.abandon()
      layer.stop()
      resolve()
    }
    const limit = time.at(time.now() + 64 * timers.t1, stop)
    // Not at once: whatever ended the last session may still have an ACK or a 200 to send.
    const done = () => {
      limit.cancel()
      time.at(time.now(), stop)
    }
    this.#closing = { promise, done }
    for (const session of [...this.#sessions]) session.hangUp()
    if (this.#sessions.size === 0) this.#closing.done()
    return promise
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
