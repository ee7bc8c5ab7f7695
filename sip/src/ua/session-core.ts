import { BufferedEmitter, type Ms } from '@parley/kernel'
import type { Dialog } from '../dialog/dialog.ts'
import { mediaTypeOf } from '../message/content-type.ts'
import type { SipMessage, SipRequest } from '../message/message.ts'
import { tokenList } from '../message/token-list.ts'
import type { Flow } from '../transport/transport.ts'
import type { CallIdentity } from './call-identity.ts'
import type { EventSource } from './event-dispatcher.ts'
import { type InDialogRequest, sendInDialog } from './in-dialog-request.ts'
import type { Body, Direction, InviteSession, SessionEnd, SessionEvent } from './session.ts'
import { type UaContext, userOf } from './ua-context.ts'

/** Most events that wait for the first listener. */
const MAX_UNHEARD = 256

/** State of one session that its parts share. Each field is changed by one part only. */
export class SessionCore implements EventSource {
  readonly ctx: UaContext
  readonly direction: Direction
  readonly identity: CallIdentity
  invite: SipRequest
  state: InviteSession['state']
  /** The flow of the last message exchanged. */
  flow: Flow | undefined
  /** The session was established over TLS: it takes requests over TLS only. Undefined until then. */
  isSecure: boolean | undefined
  /** The session's dialog; outbound undefined until a 2xx has chosen one. */
  dialog: Dialog | undefined
  /** By the last Allow of the peer's (RFC 3311 section 4). */
  peerTakesUpdate = false
  /** See `OutboundCall`. */
  keepAliveMs: Ms | undefined
  /** See `SessionEnd`; set by the part that sends INVITEs. */
  inviteLeft: () => boolean = () => false
  readonly #pending = new Set<object>()
  readonly #dialogIds = new Set<string>()
  readonly #table: { add(id: string): void; remove(id: string): void }
  readonly #onEnded: () => void
  readonly #events: BufferedEmitter<SessionEvent>

  constructor(options: {
    ctx: UaContext
    direction: Direction
    identity: CallIdentity
    invite: SipRequest
    flow: Flow | undefined
    table: { add(id: string): void; remove(id: string): void }
    onEnded: () => void
  }) {
    this.ctx = options.ctx
    this.direction = options.direction
    this.identity = options.identity
    this.invite = options.invite
    this.state = options.direction === 'outbound' ? 'calling' : 'incoming'
    this.flow = options.flow
    if (options.flow !== undefined) this.isSecure = options.flow.transport === 'tls'
    this.#table = options.table
    this.#onEnded = options.onEnded
    this.#events = new BufferedEmitter({
      schedule: () => this.ctx.pump.mark(this),
      // The dispatcher reports it and goes on with the next event.
      onListenerError: error => {
        throw error
      },
    })
  }

  /** The user part of our Contact: that of the address we are called by, or call from. */
  get contactUser(): string | undefined {
    return userOf(this.direction === 'inbound' ? this.invite.uri : this.invite.from.uri)
  }

  /** An INVITE, UPDATE or 2xx of the peer: a message without Allow changes nothing. */
  noteAbilities(message: SipMessage): void {
    if (message.headers.has('Allow')) this.peerTakesUpdate = tokenList(message.headers, 'Allow').includes('UPDATE')
  }

  /** That of the last INVITE: each target that is tried because another was silent gets a Call-ID of its own. */
  get callId(): string {
    return this.invite.callId
  }

  get ended(): boolean {
    return this.state === 'terminated'
  }

  /**
   * Whether a request on `flow` with the dialog's tags is the peer's: a dialog over TLS takes none over UDP or TCP, where anyone on the path
   * could have read the tags, and a dialog with a trunk none from an address that is not the trunk's.
   */
  takesFrom(flow: Flow): boolean {
    const isSecure = this.isSecure ?? this.flow?.transport === 'tls'
    if (isSecure && flow.transport !== 'tls') return false
    return flow.remote.address === this.flow?.remote.address || this.identity.sendsFrom(flow.remote.address)
  }

  listen(listener: (event: SessionEvent) => void): void {
    this.#events.listen(listener)
  }

  emit(event: SessionEvent): void {
    if (!this.ended && this.#events.waiting < MAX_UNHEARD) this.#events.emit(event)
  }

  tellOne(): boolean {
    return this.#events.deliverOne()
  }

  /** Routes requests in this dialog to the session until it ends. */
  own(dialog: Dialog): void {
    if (this.ended) return
    this.#dialogIds.add(dialog.id)
    this.#table.add(dialog.id)
  }

  /** Something is sent on this connection as often as the call's trunk asks for. */
  keepAlive(flow: Flow): void {
    if (this.keepAliveMs !== undefined && flow.transport !== 'udp')
      this.ctx.layer.sender.keepWithin(flow, this.keepAliveMs)
  }

  /** Sends a request in the session's dialog; undefined when there is none. */
  request(spec: Omit<InDialogRequest, 'dialog' | 'identity' | 'flow'>) {
    const { ctx, dialog, identity, flow } = this
    if (dialog === undefined) return undefined
    const pending = {}
    this.#pending.add(pending)
    return sendInDialog(ctx, {
      ...spec,
      dialog,
      identity,
      flow,
      onResponse: (response, on) => {
        if (response.status >= 200) this.#pending.delete(pending)
        if (on.id !== this.flow?.id) this.keepAlive(on)
        this.flow = on
        spec.onResponse(response, on)
      },
      onFailure: failure => {
        this.#pending.delete(pending)
        spec.onFailure(failure)
      },
    })
  }

  /** A request of `request` has no final response yet. */
  get hasPendingRequests(): boolean {
    return this.#pending.size > 0
  }

  /** Ends the session, once, and removes it from the user agent's tables. */
  end(end: Omit<SessionEnd, 'inviteLeft'>): void {
    if (this.ended) return
    this.#events.emit({ type: 'ended', end: { ...end, inviteLeft: this.inviteLeft() } })
    this.state = 'terminated'
    for (const id of this.#dialogIds) this.#table.remove(id)
    this.#dialogIds.clear()
    this.#onEnded()
  }
}

/** The body of a message; undefined when it has none. */
export function bodyOf(message: SipMessage): Body | undefined {
  if (message.body.length === 0) return undefined
  const header = message.headers.get('Content-Type')
  return {
    contentType: mediaTypeOf(message) ?? 'application/octet-stream',
    bytes: message.body,
    ...(header === undefined ? {} : { header }),
  }
}
