import { type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import { dialLeg, receiveLeg, type SipCallLeg } from '@parley/leg'
import type { LegContext } from '@parley/leg/testing'
import { type CodecName, InlineMediaPlane, VirtualPacketNetwork } from '@parley/media'
import type { SpeechChunk, TextToSpeech } from '@parley/providers'
import { type InviteSession, parseUri, type SipUri, UserAgent, VirtualNetwork } from '@parley/sip'
import { PhoneCall, type PhoneCallOptions } from './phone-call.ts'

/** An answered call in virtual time: `call` is the phone's end, `far` the far end's leg. */
export class PhoneLine {
  readonly time: VirtualTime
  readonly call: PhoneCall
  readonly far: SipCallLeg

  private constructor(time: VirtualTime, call: PhoneCall, far: SipCallLeg) {
    this.time = time
    this.call = call
    this.far = far
  }

  static async answered(
    options: PhoneCallOptions & { readonly codecs?: readonly CodecName[] } = {},
  ): Promise<PhoneLine> {
    const time = new VirtualTime()
    const random = new SeededRandom(1)
    const packets = new VirtualPacketNetwork({ time, random })
    const signalling = new VirtualNetwork({ time, random })
    const contextAt = (address: string, onInvite: (session: InviteSession) => void): LegContext => {
      const transport = signalling.element({ address })
      const guard = () => ({ action: 'accept' }) as const
      const userAgent = new UserAgent({ time, random, transport, guard, onInvite })
      return { userAgent, random, media: new InlineMediaPlane({ time, random, network: packets, address }) }
    }
    const legOptions = { ...(options.codecs && { codecs: options.codecs }) }
    const reached = Promise.withResolvers<SipCallLeg>()
    const farEnd = contextAt('192.0.2.2', session => {
      void receiveLeg(farEnd, session, legOptions).then(leg => leg !== null && reached.resolve(leg))
    })
    const leg = await dialLeg(
      contextAt('192.0.2.1', () => {}),
      {
        uri: parseUri('sip:agent@192.0.2.2;transport=tls') as SipUri,
        from: { displayName: undefined, uri: parseUri('sip:phone@192.0.2.1')!, params: new Map() },
        ...legOptions,
      },
    )
    const call = new PhoneCall(leg, time, options)
    await pass(time, 500)
    const far = await reached.promise
    far.answer()
    await pass(time, 1000)
    return new PhoneLine(time, call, far)
  }

  /** Lets time pass; promises settle every 20 ms on the way. */
  pass(ms: Ms): Promise<void> {
    return pass(this.time, ms)
  }

  /** Lets time pass until `promise` settles and returns its result; fails after `maxMs`. */
  async during<Result>(promise: Promise<Result>, maxMs: Ms = 60_000): Promise<Result> {
    let settled = false
    const done = () => {
      settled = true
    }
    promise.then(done, done)
    for (let left = maxMs; left > 0 && !settled; left -= 20) await this.pass(20)
    if (!settled) throw new Error(`the promise did not settle within ${maxMs} ms of virtual time`)
    return promise
  }
}

/** A voice that synthesises `audio(text)` at once. */
export function readyVoice(audio: (text: string) => Int16Array): TextToSpeech {
  return {
    id: 'test/ready',
    languages: ['en'],
    readiness: () => Promise.resolve(null),
    async *synthesize({ text }): AsyncGenerator<SpeechChunk> {
      yield { samples: audio(text), words: [] }
    },
    close: () => Promise.resolve(),
  }
}

async function pass(time: VirtualTime, ms: Ms): Promise<void> {
  for (let left = ms; left > 0; left -= 20) {
    time.advance(Math.min(20, left))
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
}
