import { type Ms, type Random, randomToken, type Time } from '@parley/kernel'
import {
  createResponse,
  type DialogSnapshot,
  type Flow,
  HeaderList,
  parseDatagram,
  parseNameAddr,
  reasonPhrase,
  type SipMessage,
  type SipRequest,
  type SipTransport,
  serialise,
  type TransportInput,
  type TransportName,
  type TransportOutput,
  tagOf,
} from '@parley/sip'
import { DialogSequence } from './dialog-sequence.ts'
import type { NumberRule } from './number-plan.ts'
import { targetOf } from './wire-facts.ts'

/** "take": calls the target by the number plan; else the status that refuses every REFER. */
export type TransferPolicy = 'take' | number

interface TransferTapOptions {
  readonly policy: TransferPolicy
  readonly time: Time
  readonly random: Random
  /** Our side of the dialog of a call; null: there is no such call. */
  readonly dialogOf: (callId: string) => DialogSnapshot | null
  readonly ruleOf: (called: string) => NumberRule
  /** Outcome of the call to the target. */
  readonly onOutcome: (refer: SipRequest, target: string, status: number) => void
}

/** Time limit for a target that only rings or does not respond. */
const RINGS_FOR_MS: Ms = 30_000
const NO_ANSWER_MS: Ms = 32_000
/** Time of retransmissions after the first send over UDP (RFC 3261 section 17.1.2.2). */
const AGAIN_AFTER_MS: readonly Ms[] = [500, 1500, 3500]
/** Most dialogs with transfers that are kept; the oldest is dropped. */
const MAX_DIALOGS = 10_000
const MAX_ANSWERS = 1000

/** A dialog in which a REFER was accepted. */
interface Referred {
  readonly sequence: DialogSequence
  /** A subscription is open (RFC 3515 section 2.4.4). */
  isOpen: boolean
  isOver: boolean
}

/**
 * Handles blind transfers instead of the user agent, which refuses them all: answers the REFER, calls the target by the number
 * plan, and reports progress by NOTIFY. Later requests of the user agent in that dialog get CSeq numbers after those of the NOTIFYs.
 */
export class TransferTap implements SipTransport {
  readonly #inner: SipTransport
  readonly #options: TransferTapOptions
  readonly #dialogs = new Map<string, Referred>()
  /** Responses to REFERs by branch, for retransmissions. */
  readonly #answers = new Map<string, Uint8Array>()
  /** NOTIFYs without an answer yet, by branch. */
  readonly #notifies = new Map<string, Referred>()
  #listener: (input: TransportInput) => void = () => {}
  #nextSendId = -1

  constructor(inner: SipTransport, options: TransferTapOptions) {
    this.#inner = inner
    this.#options = options
  }

  onInput(listener: (input: TransportInput) => void): void {
    this.#listener = listener
    this.#inner.onInput(input => this.#receive(input))
  }

  submit(output: TransportOutput): void {
    if (output.type !== 'send' || this.#dialogs.size === 0) return this.#inner.submit(output)
    const parsed = parseDatagram(output.bytes)
    const message = parsed.ok ? parsed.message : null
    const referred = message?.kind === 'request' ? this.#dialogs.get(ownKey(message)) : undefined
    if (message === null || referred === undefined) return this.#inner.submit(output)
    if ('method' in message && message.method === 'BYE') referred.isOver = true
    const { sequence, method } = message.cseq
    const cseq = { sequence: referred.sequence.toWire(sequence), method }
    this.#inner.submit({ ...output, bytes: serialise({ ...message, cseq }) })
  }

  advertised(transport: TransportName): { readonly host: string; readonly port: number } | undefined {
    return this.#inner.advertised(transport)
  }

  #receive(input: TransportInput): void {
    if (input.type !== 'message' || !input.result.ok) return this.#listener(input)
    const { message } = input.result
    if (message.kind === 'response') return this.#response(input, message)
    if (message.method === 'BYE') {
      const referred = this.#dialogs.get(theirKey(message))
      if (referred !== undefined) referred.isOver = true
    }
    if (message.method !== 'REFER' || !this.#refer(message, input.flow)) this.#listener(input)
  }

  #response(input: TransportInput & { readonly type: 'message' }, message: SipMessage): void {
    const notify = this.#notifies.get(branchOf(message))
    if (notify !== undefined) {
      this.#notifies.delete(branchOf(message))
      // RFC 6665 section 4.2.2: the far end has removed the subscription.
      if ('status' in message && message.status === 481) notify.isOver = true
      return
    }
    const referred = this.#dialogs.get(ownKey(message))
    if (referred === undefined || !input.result.ok) return this.#listener(input)
    const { sequence, method } = message.cseq
    const cseq = { sequence: referred.sequence.fromWire(sequence), method }
    this.#listener({ ...input, result: { ...input.result, message: { ...message, cseq } } })
  }

  /** False: the user agent handles the message. */
  #refer(refer: SipRequest, flow: Flow): boolean {
    const { policy, dialogOf } = this.#options
    const before = this.#answers.get(branchOf(refer))
    if (before !== undefined) {
      this.#send(before, flow)
      return true
    }
    const dialog = dialogOf(refer.callId)
    if (dialog === null || dialog.localTag !== tagOf(refer.to) || dialog.remoteTag !== tagOf(refer.from)) return false
    if (policy !== 'take') {
      this.#answer(refer, flow, policy)
      return true
    }
    const target = targetOf(refer)
    const referred = this.#referredIn(refer, dialog)
    if (target === null) this.#answer(refer, flow, 400)
    else if (referred.isOpen) this.#answer(refer, flow, 491)
    else {
      referred.isOpen = true
      this.#answer(refer, flow, 202)
      this.#call(refer, flow, referred, target)
    }
    return true
  }

  #referredIn(refer: SipRequest, dialog: DialogSnapshot): Referred {
    const key = theirKey(refer)
    const known = this.#dialogs.get(key)
    if (known !== undefined) return known
    for (const oldest of this.#dialogs.keys()) {
      if (this.#dialogs.size < MAX_DIALOGS) break
      this.#dialogs.delete(oldest)
    }
    const referred = { sequence: new DialogSequence(dialog.localSequence), isOpen: false, isOver: false }
    this.#dialogs.set(key, referred)
    return referred
  }

  /** Applies the rule of the target's number to the call. */
  #call(refer: SipRequest, flow: Flow, referred: Referred, target: string): void {
    const { ruleOf, onOutcome } = this.#options
    const { behaviour, ringAfterMs } = ruleOf(target)
    const [status, afterMs] = outcomeOf(behaviour)
    const tell = (status: number) => this.#notify(refer, flow, referred, status)
    tell(100)
    if (ringAfterMs !== null && ringAfterMs < afterMs && behaviour.do !== 'ignore')
      this.#later(ringAfterMs, () => tell(180))
    this.#later(afterMs, () => {
      onOutcome(refer, target, status)
      tell(status)
      referred.isOpen = false
    })
  }

  #notify(refer: SipRequest, flow: Flow, referred: Referred, status: number): void {
    const { dialogOf, random } = this.#options
    const dialog = dialogOf(refer.callId)
    const own = this.#inner.advertised(flow.transport)
    if (referred.isOver || dialog === null || own === undefined) return
    const branch = `z9hG4bK${randomToken(random, 20)}`
    const bytes = notifyText(dialog, { ...own, transport: flow.transport, branch }, referred.sequence.next(), status)
    this.#notifies.set(branch, referred)
    this.#send(bytes, flow)
    if (flow.transport !== 'udp') return
    for (const afterMs of AGAIN_AFTER_MS)
      this.#later(afterMs, () => {
        if (this.#notifies.has(branch)) this.#send(bytes, flow)
      })
    this.#later(NO_ANSWER_MS, () => this.#notifies.delete(branch))
  }

  #answer(refer: SipRequest, flow: Flow, status: number): void {
    const own = this.#inner.advertised(flow.transport)
    const contact = own === undefined ? null : parseNameAddr(contactText({ ...own, transport: flow.transport }))
    const response = createResponse(refer, status, { headers: HeaderList.empty })
    const bytes = serialise(contact === null || contact === undefined ? response : { ...response, contact: [contact] })
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size < MAX_ANSWERS) break
      this.#answers.delete(oldest)
    }
    this.#answers.set(branchOf(refer), bytes)
    this.#send(bytes, flow)
  }

  #send(bytes: Uint8Array, flow: Flow): void {
    // The transport below does not report the outcome of sends with negative ids.
    this.#inner.submit({ type: 'send', sendId: this.#nextSendId--, to: { flow }, bytes })
  }

  #later(afterMs: Ms, act: () => void): void {
    const { time } = this.#options
    time.at(time.now() + afterMs, act)
  }
}

/** The outcome of a call to a number, and its time. */
function outcomeOf(behaviour: NumberRule['behaviour']): readonly [status: number, afterMs: Ms] {
  switch (behaviour.do) {
    case 'answer':
      return [200, behaviour.afterMs]
    case 'refuse':
      return [behaviour.status, behaviour.afterMs]
    case 'redirect':
      return [302, behaviour.afterMs]
    case 'ring':
      return [480, RINGS_FOR_MS]
    case 'ignore':
      return [408, NO_ANSWER_MS]
  }
}

interface OwnAddress {
  readonly host: string
  readonly port: number
  readonly transport: TransportName
}

/** RFC 3515 section 2.4.5, RFC 3420. */
function notifyText(
  dialog: DialogSnapshot,
  own: OwnAddress & { readonly branch: string },
  sequence: number,
  status: number,
): Uint8Array {
  const state = status < 200 ? 'active;expires=60' : 'terminated;reason=noresource'
  const fragment = `SIP/2.0 ${status} ${reasonPhrase(status)}\r\n`
  const lines = [
    `NOTIFY ${dialog.remoteTarget} SIP/2.0`,
    `Via: SIP/2.0/${own.transport.toUpperCase()} ${own.host}:${own.port};branch=${own.branch};rport`,
    'Max-Forwards: 70',
    ...dialog.routeSet.map(route => `Route: ${route}`),
    `From: ${dialog.localAddress};tag=${dialog.localTag}`,
    `To: ${dialog.remoteAddress};tag=${dialog.remoteTag}`,
    `Call-ID: ${dialog.callId}`,
    `CSeq: ${sequence} NOTIFY`,
    `Contact: ${contactText(own)}`,
    'Event: refer',
    `Subscription-State: ${state}`,
    'Content-Type: message/sipfrag;version=2.0',
    `Content-Length: ${fragment.length}`,
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${fragment}`)
}

function contactText({ host, port, transport }: OwnAddress): string {
  return `<sip:${host}:${port};transport=${transport}>`
}

function branchOf({ via }: SipMessage): string {
  return via[0]?.params.get('branch') ?? ''
}

/** Of a request of ours, or an answer to one. */
function ownKey({ callId, from }: SipMessage): string {
  return `${callId} ${tagOf(from) ?? ''}`
}

/** Of a request of theirs. */
function theirKey({ callId, to }: SipMessage): string {
  return `${callId} ${tagOf(to) ?? ''}`
}
