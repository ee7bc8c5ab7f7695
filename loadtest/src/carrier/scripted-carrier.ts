import {
  type Flow,
  type SipMessage,
  type SipRequest,
  type SipResponse,
  type SipTransport,
  serialise,
} from '@parley/sip'

/** A message that the carrier received, with the flow on which it answers. */
export interface Received<Message extends SipMessage = SipMessage> {
  readonly message: Message
  readonly flow: Flow
}

/** What a response or request of the script has besides the fields that follow from the dialog. */
export interface Wording {
  /** Tag of the carrier's side; default "carrier". "": none. */
  readonly tag?: string
  /** Contact value; default the carrier's address. "": no Contact. */
  readonly contact?: string
  /** Whole header lines. */
  readonly lines?: readonly string[]
  /** Sent as application/sdp, unless `lines` has a Content-Type. */
  readonly body?: string
}

/** Fields of a request of the carrier in a dialog, or of one that it opens. */
export interface RequestWording extends Wording {
  readonly sequence?: number
  readonly branch?: string
  readonly requestUri?: string
  /** Replaces From, To and Call-ID of the dialog. */
  readonly from?: string
  readonly to?: string
  readonly callId?: string
  /** The whole Via value; default the carrier's address with a new branch. */
  readonly via?: string
}

/** Where the carrier sends a message: back on a flow, or to an address. */
type Destination = Flow | { readonly address: string; readonly port: number; readonly transport: Flow['transport'] }

/** Both ends of a dialog as header values, from the carrier's side. */
interface DialogEnds {
  readonly local: string
  readonly remote: string
  readonly callId: string
  readonly target: string
}

/**
 * A carrier without state machines, on any transport: it sends exactly the messages of a script, as text, and keeps what it
 * received. It confirms every request but INVITE and ACK with 200, unless `onRequest` has answered.
 */
export class ScriptedCarrier {
  readonly address: string
  readonly requests: Received<SipRequest>[] = []
  readonly responses: Received<SipResponse>[] = []
  /** Called for every request; true: the script has dealt with it. */
  onRequest: (received: Received<SipRequest>) => boolean = () => false
  readonly #transport: SipTransport
  readonly #port: number
  #sendId = 1
  #sequence = 100
  #branch = 1

  constructor(transport: SipTransport, options: { readonly address: string; readonly port?: number }) {
    this.address = options.address
    this.#port = options.port ?? 5060
    this.#transport = transport
    transport.onInput(input => {
      if (input.type === 'message' && input.result.ok) this.#take(input.result.message, input.flow)
    })
  }

  #take(message: SipMessage, flow: Flow): void {
    if (message.kind === 'response') {
      this.responses.push({ message, flow })
      return
    }
    const received = { message, flow }
    this.requests.push(received)
    if (this.onRequest(received) || message.method === 'INVITE' || message.method === 'ACK') return
    this.reply(received, 200)
  }

  /** Requests of a method, oldest first. */
  all(method: string): Received<SipRequest>[] {
    return this.requests.filter(({ message }) => message.method === method)
  }

  /** The last request of a method; throws when there is none. */
  last(method: string): Received<SipRequest> {
    const last = this.all(method).at(-1)
    if (last === undefined) throw new Error(`the carrier received no ${method}`)
    return last
  }

  /** Final responses to the carrier's requests with this CSeq number, in order of arrival. */
  answersTo(sequence: number): SipResponse[] {
    return this.responses
      .map(({ message }) => message)
      .filter(({ cseq, status }) => cseq.sequence === sequence && status >= 200)
  }

  /** Answers the request of the engine; From, To, Via, Call-ID and CSeq are copied from it. */
  reply(to: Received<SipRequest>, status: number, wording: Wording = {}): void {
    const { message: request, flow } = to
    const { tag = 'carrier', body = '' } = wording
    const copied = lines(request, /^(Via|From|Call-ID|CSeq):/)
    const [toLine = ''] = lines(request, /^To:/)
    this.#send(
      [
        `SIP/2.0 ${status} Scripted`,
        ...copied,
        status === 100 || tag === '' || /;tag=/.test(toLine) ? toLine : `${toLine};tag=${tag}`,
        ...this.#contact(wording, flow),
        ...tail(wording, body),
      ],
      body,
      flow,
    )
  }

  /**
   * Sends a request in the dialog of `invite`, an INVITE of the engine that the carrier answered with `wording.tag`, or in the
   * dialog of `answer`, the engine's 200 to an INVITE of the carrier. Returns its CSeq number.
   */
  request(
    method: string,
    dialog: Received<SipRequest> | Received<SipResponse>,
    wording: RequestWording = {},
    to?: Destination,
  ): number {
    const ends = dialogEnds(dialog, wording.tag ?? 'carrier')
    const sequence = wording.sequence ?? this.#sequence++
    this.#sendRequest(method, ends, { ...wording, sequence }, to ?? dialog.flow)
    return sequence
  }

  /** Sends a request outside a dialog, such as an INVITE, to `requestUri`. Returns its CSeq number. */
  open(method: string, requestUri: string, to: Destination, wording: RequestWording = {}): number {
    const { tag = 'carrier', sequence = this.#sequence++, callId = `scripted-${sequence}@${this.address}` } = wording
    const local = `<sip:+15550001111@${this.address}>${tag === '' ? '' : `;tag=${tag}`}`
    const ends = { local, remote: `<${requestUri}>`, callId, target: requestUri }
    this.#sendRequest(method, ends, { ...wording, sequence }, to)
    return sequence
  }

  /** Sends bytes that need not be a message. */
  sendText(text: string, to: Destination): void {
    const bytes = new TextEncoder().encode(text)
    const where = 'id' in to ? { flow: to } : { target: { ...to, serverName: to.address } }
    this.#transport.submit({ type: 'send', sendId: this.#sendId++, to: where, bytes })
  }

  #sendRequest(
    method: string,
    ends: DialogEnds,
    wording: RequestWording & { readonly sequence: number },
    to: Destination,
  ): void {
    const { body = '', sequence, branch = `z9hG4bKscripted${this.#branch++}` } = wording
    const via =
      wording.via ?? `SIP/2.0/${to.transport.toUpperCase()} ${this.address}:${this.#port};branch=${branch};rport`
    this.#send(
      [
        `${method} ${wording.requestUri ?? ends.target} SIP/2.0`,
        `Via: ${via}`,
        'Max-Forwards: 70',
        `From: ${wording.from ?? ends.local}`,
        `To: ${wording.to ?? ends.remote}`,
        `Call-ID: ${wording.callId ?? ends.callId}`,
        `CSeq: ${sequence} ${method}`,
        ...this.#contact(wording, to),
        ...tail(wording, body),
      ],
      body,
      to,
    )
  }

  #contact({ contact }: Wording, { transport }: Destination): string[] {
    if (contact === '') return []
    return [`Contact: ${contact ?? `<sip:carrier@${this.address}:${this.portOf(transport)};transport=${transport}>`}`]
  }

  portOf(transport: Flow['transport']): number {
    return transport === 'tls' ? this.#port + 1 : this.#port
  }

  #send(head: readonly string[], body: string, to: Destination): void {
    this.sendText([...head, '', body].join('\r\n'), to)
  }
}

function tail({ lines = [] }: Wording, body: string): string[] {
  const typed = body === '' || lines.some(line => /^(Content-Type|c):/i.test(line))
  const sized = lines.some(line => /^(Content-Length|l):/i.test(line))
  return [
    ...lines,
    ...(typed ? [] : ['Content-Type: application/sdp']),
    ...(sized ? [] : [`Content-Length: ${new TextEncoder().encode(body).length}`]),
  ]
}

function dialogEnds({ message }: Received, tag: string): DialogEnds {
  const [from = ''] = values(message, 'From')
  const [to = ''] = values(message, 'To')
  const contact = message.contact === '*' ? '' : (values(message, 'Contact')[0] ?? '')
  const target = /<([^>]*)>/.exec(contact)?.[1] ?? contact
  if (message.kind === 'response') return { local: from, remote: to, callId: message.callId, target }
  return { local: /;tag=/.test(to) ? to : `${to};tag=${tag}`, remote: from, callId: message.callId, target }
}

/** Header lines of the message that match, as our serialiser writes them. */
function lines(message: SipMessage, pattern: RegExp): string[] {
  const head = new TextDecoder('latin1').decode(serialise(message)).split('\r\n\r\n')[0] ?? ''
  return head.split('\r\n').filter(line => pattern.test(line))
}

function values(message: SipMessage, name: string): string[] {
  return lines(message, new RegExp(`^${name}:`)).map(line => line.slice(name.length + 1).trim())
}
