import type { Ms } from '@parley/kernel'
import {
  type DialOptions,
  type LegEvent,
  type LegOptions,
  parseUri,
  type SipCallLeg,
  type SipRequest,
  type SipUri,
} from '@parley/leg'
import { VirtualLine } from '@parley/leg/testing'
import { type Received, type RequestWording, ScriptedCarrier, type Wording } from '@parley/loadtest'
import { check, checkThat, ScenarioFailure } from './checks.ts'
import { ScriptedRtp } from './scripted-rtp.ts'

/** Address of the carrier; the engine dials from 192.0.2.1 and is called at 192.0.2.2. */
export const CARRIER = '192.0.2.9'
/** The second address of a carrier with two. */
export const OTHER_ADDRESS = '192.0.2.10'
const ENGINE_DIALS_FROM = '192.0.2.1'
const ENGINE_CALLED_AT = '192.0.2.2'
const SETTLE_MS = 200

type Transport = 'udp' | 'tcp' | 'tls'

/** What a session description of the carrier says. */
interface Description {
  readonly address?: string
  readonly port?: number
  /** Formats and attribute lines of the audio stream; default PCMU and telephone-event 101. */
  readonly formats?: string
  readonly attributes?: readonly string[]
  readonly profile?: string
  readonly version?: number
}

const TELEPHONE_EVENT = ['a=rtpmap:101 telephone-event/8000', 'a=fmtp:101 0-15']

export function sdp(description: Description = {}): string {
  const { address = CARRIER, port = 40_000, formats = '0 101', attributes = TELEPHONE_EVENT } = description
  return [
    'v=0',
    `o=carrier 7 ${description.version ?? 1} IN IP4 ${CARRIER}`,
    's=-',
    `c=IN IP4 ${address}`,
    't=0 0',
    `m=audio ${port} ${description.profile ?? 'RTP/AVP'} ${formats}`,
    ...attributes,
    '',
  ].join('\r\n')
}

/** `sdp` with further attribute lines. */
export function sdpWith(attributes: readonly string[], description: Description = {}): string {
  return sdp({ ...description, attributes: [...TELEPHONE_EVENT, ...attributes] })
}

/** One call in virtual time between the engine's signalling and media and a carrier that follows a script. */
export class CarrierHarness {
  readonly line: VirtualLine
  readonly carrier: ScriptedCarrier
  readonly rtp: ScriptedRtp
  /** The engine's end: the one that dialled, or the one that was called. */
  #isCalled = false
  #isDeafened = false

  constructor(answering: LegOptions = { security: 'rtp-only' }) {
    this.line = new VirtualLine({ answering })
    this.carrier = new ScriptedCarrier(this.line.signalling.element({ address: CARRIER }), { address: CARRIER })
    this.rtp = new ScriptedRtp(this.line.time, this.line.packets)
  }

  /** A planted fault: the engine receives no SIP message, neither a call nor anything after its own INVITE. */
  deafen(): void {
    this.line.signalling.at(ENGINE_CALLED_AT)?.silence()
    this.#isDeafened = true
  }

  pass(ms: Ms): Promise<void> {
    return this.line.pass(ms)
  }

  /** The engine dials the carrier, which has received the INVITE when this resolves. Default: plain RTP over UDP. */
  async dial(options: Partial<DialOptions> & { readonly over?: Transport } = {}): Promise<Received<SipRequest>> {
    const { over = 'udp', ...rest } = options
    const uri = parseUri(`sip:bob@${CARRIER};transport=${over}`) as SipUri
    await this.line.dial({ uri, security: over === 'tls' ? 'srtp-required' : 'rtp-only', ...rest })
    await this.pass(SETTLE_MS)
    const invite = this.carrier.last('INVITE')
    if (this.#isDeafened) this.line.signalling.at(ENGINE_DIALS_FROM)?.silence()
    if (invite.message.body.length > 0) this.learnOffer(invite.message.body)
    return invite
  }

  /** The engine dials a name that stands for the carrier's address and then for another one, at which nobody listens. */
  dialTwoAddresses(): Promise<Received<SipRequest>> {
    this.line.signalling.name('trunk.example', [
      { address: CARRIER, port: 0 },
      { address: OTHER_ADDRESS, port: 0 },
    ])
    return this.dial({ nextHop: { host: 'trunk.example', port: undefined, transport: 'udp', serverName: undefined } })
  }

  /** Addresses to which an INVITE was sent, in order. */
  calledAddresses(): string[] {
    const invites = this.line.signalling.passed.filter(({ text }) => text.startsWith('INVITE'))
    return [...new Set(invites.map(({ to }) => to.address))]
  }

  /** The carrier answers the last INVITE of the engine with 200 and a session description. */
  async answer(wording: Wording = {}): Promise<void> {
    await this.respond(200, { body: sdp(), ...wording })
  }

  async respond(status: number, wording: Wording = {}): Promise<void> {
    this.carrier.reply(this.carrier.last('INVITE'), status, wording)
    await this.pass(SETTLE_MS)
  }

  /** A call of the engine that the carrier has answered. */
  async establish(options: Parameters<CarrierHarness['dial']>[0] = {}, wording: Wording = {}): Promise<void> {
    await this.dial(options)
    await this.answer(wording)
    this.checkActive()
  }

  /**
   * The carrier calls the engine, which answers at once; the carrier acknowledges the 200, unless `acknowledges` is false.
   * Returns the final status.
   */
  async callEngine(
    wording: RequestWording = {},
    { over = 'udp', acknowledges = true }: { readonly over?: Transport; readonly acknowledges?: boolean } = {},
  ): Promise<number> {
    this.#isCalled = true
    const sequence = this.inviteEngine({ body: sdp(), ...wording }, over)
    await this.pass(SETTLE_MS)
    const answer = this.carrier.responses.findLast(
      ({ message }) => message.cseq.sequence === sequence && message.status >= 200,
    )
    if (answer === undefined) return 0
    const { status, body } = answer.message
    if (status === 200) {
      if (body.length > 0) this.learnOffer(body)
      if (acknowledges) this.carrier.request('ACK', answer, { sequence })
      await this.pass(SETTLE_MS)
    }
    return status
  }

  /** Sends an INVITE to the engine; returns its CSeq number. */
  inviteEngine(wording: RequestWording, over: Transport = 'udp'): number {
    this.#isCalled = true
    const port = over === 'tls' ? 5061 : 5060
    const to = { address: ENGINE_CALLED_AT, port, transport: over }
    return this.carrier.open('INVITE', `sip:token@${ENGINE_CALLED_AT};transport=${over}`, to, wording)
  }

  /** The message that the carrier's requests in the dialog refer to. */
  get dialog(): Parameters<ScriptedCarrier['request']>[1] {
    if (!this.#isCalled) return this.carrier.all('INVITE')[0]!
    return this.carrier.responses.find(({ message }) => message.cseq.method === 'INVITE' && message.status === 200)!
  }

  /** A request of the carrier in the dialog; resolves with the final status, 0: none came. A 200 to INVITE is acknowledged. */
  async send(method: string, wording: RequestWording = {}): Promise<number> {
    const sequence = this.carrier.request(method, this.dialog, wording)
    await this.pass(SETTLE_MS)
    const status = this.carrier.answersTo(sequence)[0]?.status ?? 0
    if (method === 'INVITE' && status === 200) {
      this.carrier.request('ACK', this.dialog, { tag: wording.tag ?? 'carrier', sequence })
      await this.pass(SETTLE_MS)
    }
    return status
  }

  /** A peer at another address that knows the dialog; the returned function sends a request over UDP and resolves with its status. */
  strangerAt(address: string): (method: string) => Promise<number> {
    const stranger = new ScriptedCarrier(this.line.signalling.element({ address }), { address })
    const engine = this.#isCalled ? ENGINE_CALLED_AT : ENGINE_DIALS_FROM
    return async method => {
      const sequence = stranger.request(
        method,
        this.dialog,
        { sequence: 800 },
        { address: engine, port: 5060, transport: 'udp' },
      )
      await this.pass(SETTLE_MS)
      return stranger.answersTo(sequence)[0]?.status ?? 0
    }
  }

  get #end(): VirtualLine['a'] {
    return this.#isCalled ? this.line.b : this.line.a
  }

  get leg(): SipCallLeg {
    const { leg } = this.#end
    if (leg === null) throw new ScenarioFailure('the engine has no call')
    return leg
  }

  get end(): VirtualLine['a']['end'] {
    return this.#end.end
  }

  events<Type extends LegEvent['type']>(type: Type): Extract<LegEvent, { type: Type }>[] {
    return this.#end.events.filter((event): event is Extract<LegEvent, { type: Type }> => event.type === type)
  }

  digits(): string {
    return this.events('digit')
      .map(({ digit }) => digit)
      .join('')
  }

  checkActive(): void {
    check('state of the call', this.leg.state, 'active')
  }

  /** The carrier talks for a second, and the engine hears most of it. */
  async checkHears(what = 'the engine hears the carrier'): Promise<void> {
    this.rtp.talk(1000)
    await this.pass(1200)
    const heardMs = this.heardMs(1200)
    checkThat(`${what}: only ${heardMs} ms of a second were heard`, heardMs >= 800)
  }

  /** Milliseconds of sound, in steps of 10, within the last `ms` that the engine received. */
  heardMs(ms: Ms): Ms {
    const audio = this.#end.captured().left
    let heard = 0
    for (let at = Math.max(0, audio.length - ms * 8); at + 80 <= audio.length; at += 80)
      if (audio.subarray(at, at + 80).some(sample => Math.abs(sample) > 1000)) heard += 10
    return heard
  }

  /** Ports of the carrier at which RTP arrives in the next second. */
  async audioArrivesAt(): Promise<number[]> {
    const from = this.rtp.received.length
    await this.pass(1000)
    return [...new Set(this.rtp.received.slice(from).map(({ port }) => port))]
  }

  async checkSpeaks(port = 40_000): Promise<void> {
    check('ports at which the carrier receives the engine', await this.audioArrivesAt(), [port])
  }

  /** Audio passes both ways. */
  async checkTalks(): Promise<void> {
    this.checkActive()
    await this.checkHears()
    await this.checkSpeaks(this.rtp.stream.port)
  }

  /** The engine hangs up, and the carrier has its BYE. */
  async checkHangsUp(): Promise<Received<SipRequest>> {
    this.leg.hangUp()
    await this.pass(1000)
    check('the end is confirmed', this.end?.confirmed, true)
    return this.carrier.last('BYE')
  }

  /** Sends RTP to the address of the engine's session description from now on. */
  learnOffer(body: Uint8Array): void {
    const text = new TextDecoder().decode(body)
    const address = /^c=IN IP4 (\S+)/m.exec(text)?.[1]
    const port = /^m=audio (\d+)/m.exec(text)?.[1]
    if (address !== undefined && port !== undefined) this.rtp.to = { address, port: Number(port) }
  }
}
