import { HeaderList } from '../message/header-list.ts'
import { type NameAddr, type SipRequest, type SipResponse, tagOf, type Uri } from '../message/message.ts'
import { createRequest } from '../message/message-factory.ts'
import { parseNameAddr, serialiseNameAddr } from '../message/name-addr.ts'
import { parseUri, serialiseUri } from '../message/uri.ts'
import type { NextHop } from '../transport/transport.ts'
import { type DialogSnapshot, isDialogSnapshot } from './dialog-snapshot.ts'
import { routeRequest } from './route-set.ts'

/** CSeq numbers stay below 2^31 (RFC 3261 section 8.1.1.5). */
export const MAX_SEQUENCE = 2 ** 31 - 1

interface DialogFields {
  readonly callId: string
  /** With our tag. */
  readonly local: NameAddr
  /** With the peer's tag, where it has one. */
  readonly remote: NameAddr
  /** In the order in which we write Route. */
  readonly routeSet: readonly NameAddr[]
  readonly remoteTarget: Uri
  readonly localSequence: number
  readonly remoteSequence: number | undefined
  readonly serverName: string | undefined
}

/** A dialog as one side sees it (RFC 3261 section 12). */
export class Dialog {
  readonly callId: string
  readonly local: NameAddr
  readonly remote: NameAddr
  readonly serverName: string | undefined
  #routeSet: readonly NameAddr[]
  #remoteTarget: Uri
  #localSequence: number
  #remoteSequence: number | undefined

  private constructor(fields: DialogFields) {
    this.callId = fields.callId
    this.local = fields.local
    this.remote = fields.remote
    this.serverName = fields.serverName
    this.#routeSet = fields.routeSet
    this.#remoteTarget = fields.remoteTarget
    this.#localSequence = fields.localSequence
    this.#remoteSequence = fields.remoteSequence
  }

  /** Section 12.1.1: the callee keeps the order of Record-Route; the target is the caller's Contact. */
  static ofServer(request: SipRequest, localTag: string, serverName?: string): Dialog {
    return new Dialog({
      callId: request.callId,
      local: withTag(request.to, localTag),
      remote: request.from,
      routeSet: request.recordRoute,
      remoteTarget: contactOf(request) ?? request.from.uri,
      // 12.1.1: the local sequence number is empty; the first request of ours may start anywhere.
      localSequence: 0,
      remoteSequence: request.cseq.sequence,
      serverName,
    })
  }

  /** Section 12.1.2: the caller reverses the Record-Route of the response; the target is the callee's Contact. */
  static ofClient(request: SipRequest, response: SipResponse, serverName?: string): Dialog {
    return new Dialog({
      callId: request.callId,
      local: request.from,
      remote: response.to,
      routeSet: [...response.recordRoute].reverse(),
      remoteTarget: contactOf(response) ?? request.uri,
      localSequence: request.cseq.sequence,
      remoteSequence: undefined,
      serverName,
    })
  }

  /** Undefined if the value is not a snapshot or its addresses cannot be parsed. */
  static restore(snapshot: DialogSnapshot): Dialog | undefined {
    if (!isDialogSnapshot(snapshot)) return undefined
    const local = parseNameAddr(snapshot.localAddress)
    const remote = parseNameAddr(snapshot.remoteAddress)
    const remoteTarget = parseUri(snapshot.remoteTarget)
    const routeSet = snapshot.routeSet.map(route => parseNameAddr(route))
    if (local === undefined || remote === undefined || remoteTarget === undefined) return undefined
    const routes = routeSet.filter(route => route !== undefined)
    if (routes.length !== routeSet.length) return undefined
    return new Dialog({
      callId: snapshot.callId,
      local: withTag(local, snapshot.localTag),
      remote: snapshot.remoteTag === '' ? remote : withTag(remote, snapshot.remoteTag),
      routeSet: routes,
      remoteTarget,
      localSequence: snapshot.localSequence,
      remoteSequence: snapshot.remoteSequence ?? undefined,
      serverName: snapshot.serverName ?? undefined,
    })
  }

  snapshot(): DialogSnapshot {
    return {
      callId: this.callId,
      localTag: tagOf(this.local) ?? '',
      remoteTag: tagOf(this.remote) ?? '',
      localAddress: serialiseNameAddr(withoutTag(this.local)),
      remoteAddress: serialiseNameAddr(withoutTag(this.remote)),
      routeSet: this.#routeSet.map(route => serialiseNameAddr(route)),
      remoteTarget: serialiseUri(this.#remoteTarget),
      localSequence: this.#localSequence,
      remoteSequence: this.#remoteSequence ?? null,
      serverName: this.serverName ?? null,
    }
  }

  get id(): string {
    return dialogId(this.callId, tagOf(this.local) ?? '', tagOf(this.remote) ?? '')
  }

  get remoteTarget(): Uri {
    return this.#remoteTarget
  }

  get routeSet(): readonly NameAddr[] {
    return this.#routeSet
  }

  get localSequence(): number {
    return this.#localSequence
  }

  /** Where its next request goes when no connection of the dialog is alive. */
  get hop(): NextHop | undefined {
    return routeRequest(this.#remoteTarget, this.#routeSet, this.serverName).hop
  }

  /** Takes the next CSeq number: reserved before the request is sent, so that it is never used twice. */
  reserveSequence(): number {
    this.#localSequence = this.#localSequence >= MAX_SEQUENCE ? 1 : this.#localSequence + 1
    return this.#localSequence
  }

  /** The initial INVITE was sent again (credentials, another target) with this number after the dialog was made. */
  sequenceUsed(sequence: number): void {
    this.#localSequence = Math.max(this.#localSequence, sequence)
  }

  /** Skips CSeq numbers, for a process that takes over the dialog without knowing the last ones. */
  skipSequence(by: number): void {
    this.#localSequence = Math.min(this.#localSequence + by, MAX_SEQUENCE - 1)
  }

  /** A request in the dialog (12.2.1.1), without Via; `sequence` as reserved, for ACK the INVITE's. */
  request(
    method: string,
    sequence: number,
    options: { contact?: NameAddr; headers?: HeaderList; body?: Uint8Array; contentType?: string } = {},
  ): SipRequest {
    const { uri, route } = routeRequest(this.#remoteTarget, this.#routeSet)
    return createRequest({
      method,
      uri,
      via: [],
      from: this.local,
      to: this.remote,
      callId: this.callId,
      cseq: { sequence, method },
      route,
      headers: options.headers ?? HeaderList.empty,
      ...(options.contact === undefined ? {} : { contact: [options.contact] }),
      ...(options.body === undefined ? {} : { body: options.body }),
      ...(options.contentType === undefined ? {} : { contentType: options.contentType }),
    })
  }

  /** Section 12.2.2: false when the number is lower than one already seen, which is answered 500. */
  acceptRemoteSequence(sequence: number): boolean {
    if (this.#remoteSequence !== undefined && sequence < this.#remoteSequence) return false
    this.#remoteSequence = sequence
    return true
  }

  /** Target refresh by a re-INVITE or its 2xx (12.2.1.2, 12.2.2): changes the remote target, never the route set. */
  refreshTarget(message: SipRequest | SipResponse): void {
    this.#remoteTarget = contactOf(message) ?? this.#remoteTarget
  }

  /** 13.2.2.4: the 2xx that confirms an early dialog determines the route set. */
  confirmFrom(response: SipResponse): void {
    this.#routeSet = [...response.recordRoute].reverse()
    this.refreshTarget(response)
  }
}

/** Call-ID, local tag and remote tag (section 12). */
export function dialogId(callId: string, localTag: string, remoteTag: string): string {
  return `${callId} ${localTag} ${remoteTag}`
}

/** The id of the dialog that a request from the peer is in; undefined outside any (no To tag). */
export function dialogIdOf(request: SipRequest): string | undefined {
  const localTag = tagOf(request.to)
  return localTag === undefined ? undefined : dialogId(request.callId, localTag, tagOf(request.from) ?? '')
}

export function withTag(address: NameAddr, tag: string): NameAddr {
  return { ...address, params: new Map(address.params).set('tag', tag) }
}

function withoutTag(address: NameAddr): NameAddr {
  const params = new Map(address.params)
  params.delete('tag')
  return { ...address, params }
}

function contactOf(message: SipRequest | SipResponse): Uri | undefined {
  return message.contact === '*' ? undefined : message.contact[0]?.uri
}
