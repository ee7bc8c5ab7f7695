import { type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import { InlineMediaPlane, type MediaSession, VirtualPacketNetwork } from '@parley/media'
import {
  type InviteSession,
  type NameAddr,
  parseUri,
  type RequestGuard,
  type SipUri,
  UserAgent,
  VirtualNetwork,
} from '@parley/sip'
import { type DialOptions, dialLeg, type LegContext, type LegOptions, receiveLeg } from './connect.ts'
import type { LegEnd, LegEvent } from './leg.ts'
import type { MediaDestinations } from './media-destinations.ts'
import type { SipCallLeg } from './sip-call-leg.ts'

/** One end of a virtual line: user agent and media plane, and the leg once there is a call. */
class LineEnd {
  context: LegContext
  readonly events: LegEvent[] = []
  leg: SipCallLeg | null = null
  readonly #media: InlineMediaPlane
  #session: MediaSession | null = null

  constructor(context: Omit<LegContext, 'media'>, media: InlineMediaPlane) {
    this.#media = media
    const open: InlineMediaPlane['open'] = async options => {
      this.#session = await media.open(options)
      return this.#session
    }
    this.context = { ...context, media: { open, describe: () => media.describe(), close: () => media.close() } }
  }

  /** `left`: audio that this end received; `right`: audio that it sent; from the first sample of its session on. */
  captured(): { readonly left: Int16Array; readonly right: Int16Array } {
    return this.#media.captured(this.#session!)
  }

  /** Limits where legs that begin from now on send media. */
  limitMedia(mediaDestinations: MediaDestinations): void {
    this.context = { ...this.context, mediaDestinations }
  }

  setLeg(leg: SipCallLeg): void {
    this.leg = leg
    leg.onEvent(event => this.events.push(event))
  }

  eventTypes(): string[] {
    return this.events.map(event => event.type)
  }

  get end(): LegEnd | undefined {
    const last = this.events.at(-1)
    return last?.type === 'ended' ? last.end : undefined
  }
}

/** Two user agents and two media planes in virtual time: `a` calls; `b` rings and answers, unless `onOffer` is replaced. */
export class VirtualLine {
  readonly time = new VirtualTime()
  readonly packets: VirtualPacketNetwork
  readonly signalling: VirtualNetwork
  readonly a: LineEnd
  readonly b: LineEnd
  /** Called with `b`'s leg of each inbound call. */
  onOffer: (leg: SipCallLeg) => void = leg => {
    leg.ring()
    leg.answer()
  }
  readonly #answering: LegOptions

  constructor(options: { readonly seed?: number; readonly answering?: LegOptions } = {}) {
    const random = new SeededRandom(options.seed ?? 1)
    this.#answering = options.answering ?? {}
    this.packets = new VirtualPacketNetwork({ time: this.time, random })
    this.signalling = new VirtualNetwork({ time: this.time, random })
    this.a = this.#end('192.0.2.1', random, () => {})
    this.b = this.#end('192.0.2.2', random, session => void this.#receive(session))
  }

  /** Dials from `a` to `b`; the call proceeds with `pass`. */
  async dial(options: Partial<DialOptions> = {}): Promise<SipCallLeg> {
    const leg = await dialLeg(this.a.context, {
      uri: parseUri('sip:bob@192.0.2.2;transport=tls') as SipUri,
      from: address('sip:alice@192.0.2.1'),
      ...options,
    })
    this.a.setLeg(leg)
    return leg
  }

  /** Lets time pass; promises settle every `stepMs` on the way. */
  async pass(ms: Ms, stepMs: Ms = 20): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.time.advance(Math.min(stepMs, left))
      await settle()
    }
  }

  #end(host: string, random: SeededRandom, onInvite: (session: InviteSession) => void): LineEnd {
    const guard: RequestGuard = () => ({ action: 'accept' })
    const transport = this.signalling.element({ address: host })
    const { time } = this
    const userAgent = new UserAgent({ time, random, transport, guard, onInvite })
    return new LineEnd(
      { random, userAgent },
      new InlineMediaPlane({ time, random, network: this.packets, address: host }),
    )
  }

  async #receive(session: InviteSession): Promise<void> {
    const leg = await receiveLeg(this.b.context, session, this.#answering)
    if (leg === null) return
    this.b.setLeg(leg)
    this.onOffer(leg)
  }
}

function address(uri: string): NameAddr {
  return { displayName: undefined, uri: parseUri(uri)!, params: new Map() }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 8; i++) await Promise.resolve()
}
