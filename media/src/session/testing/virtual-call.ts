import { type AudioFormat, type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import { type CodecName, codecByName } from '../../codec/codecs.ts'
import { keyAndSaltBytes } from '../../srtp/srtp-suite.ts'
import { InlineMediaPlane } from '../inline-media-plane.ts'
import type {
  MediaEvent,
  MediaParameters,
  MediaSession,
  MediaSessionOptions,
  SrtpKey,
  SrtpSuite,
} from '../media-session.ts'
import { type NetworkConditions, VirtualPacketNetwork } from '../virtual-packet-network.ts'
import { MarkedListener, markedAudio } from './marked-audio.ts'

const STEP_MS: Ms = 100
/** Audio that an end with `talking` keeps queued. */
const AHEAD_SAMPLES = 4000

export interface VirtualCallOptions {
  /** null: plain RTP. Default AES_CM_128_HMAC_SHA1_80. */
  readonly suite?: SrtpSuite | null
  readonly conditions?: NetworkConditions
  readonly seed?: number
  readonly ptimeMs?: Ms
  readonly codec?: CodecName
  /** Options of both sessions. */
  readonly session?: Partial<MediaSessionOptions>
  /** Format of the second session, if it differs. */
  readonly formatB?: AudioFormat
}

/** One end of a virtual call, with the audio that it sent and received. */
export interface VirtualEnd {
  readonly session: MediaSession
  readonly plane: InlineMediaPlane
  readonly events: MediaEvent[]
  readonly listener: MarkedListener
  /** Samples of marked audio queued so far. */
  sentSamples: number
  /** Whether `run` keeps this end talking. */
  talking: boolean
  readonly seed: number
}

/** Two sessions over a virtual network, with keys as an offer and an answer would have agreed them. */
export class VirtualCall {
  readonly time = new VirtualTime(5000)
  readonly network: VirtualPacketNetwork
  readonly random: SeededRandom
  #a: VirtualEnd | null = null
  #b: VirtualEnd | null = null
  readonly #options: VirtualCallOptions
  readonly #heard = new Int16Array(16_384)
  #keys: { readonly ab: SrtpKey; readonly ba: SrtpKey } | null

  private constructor(options: VirtualCallOptions) {
    this.#options = options
    this.random = new SeededRandom(options.seed ?? 1)
    this.network = new VirtualPacketNetwork({
      time: this.time,
      random: this.random,
      ...(options.conditions === undefined ? {} : { conditions: options.conditions }),
    })
    this.#keys = this.#newKeys()
  }

  /** Both ends are open and talk to each other in both directions. */
  static async start(options: VirtualCallOptions = {}): Promise<VirtualCall> {
    const call = new VirtualCall(options)
    call.#a = await call.#end('192.0.2.1', 1)
    call.#b = await call.#end('192.0.2.2', 2)
    call.apply({})
    return call
  }

  get a(): VirtualEnd {
    return this.#a!
  }

  get b(): VirtualEnd {
    return this.#b!
  }

  /** Parameters of one end, as from offer/answer. */
  parameters(of: 'a' | 'b', changes: Partial<MediaParameters> = {}): MediaParameters {
    const { ptimeMs = 20, codec = 'PCMU' } = this.#options
    const keys = this.#keys
    const srtp = keys && (of === 'a' ? { send: keys.ab, receive: keys.ba } : { send: keys.ba, receive: keys.ab })
    return {
      remote: of === 'a' ? this.b.session.local : this.a.session.local,
      direction: 'sendrecv',
      codec,
      payloadType: codecByName(codec).payloadType,
      ptimeMs,
      dtmfPayloadType: 101,
      srtp,
      ...changes,
    }
  }

  apply(changes: { readonly a?: Partial<MediaParameters>; readonly b?: Partial<MediaParameters> }): void {
    this.a.session.apply(this.parameters('a', changes.a))
    this.b.session.apply(this.parameters('b', changes.b))
  }

  /** New keys in both directions: b, the answerer, changes at once, a when the answer has reached it. */
  rekey(answerDelayMs: Ms): void {
    this.#keys = this.#newKeys()
    this.b.session.apply(this.parameters('b'))
    this.run(answerDelayMs)
    this.a.session.apply(this.parameters('a'))
  }

  /** Advances time; an end with `talking` keeps audio queued, and both ends read what they receive. */
  run(ms: Ms): void {
    for (let left = ms; left > 0; left -= STEP_MS) {
      for (const end of [this.a, this.b]) if (end.talking) this.say(end, AHEAD_SAMPLES - end.session.queued())
      this.time.advance(Math.min(STEP_MS, left))
      for (const end of [this.a, this.b]) {
        for (let n = end.session.readHeard(this.#heard); n > 0; n = end.session.readHeard(this.#heard)) {
          end.listener.hear(this.#heard, n)
        }
      }
    }
  }

  /** Queues the next `count` samples of this end's marked audio. */
  say(end: VirtualEnd, count: number): void {
    if (count <= 0) return
    end.session.play(markedAudio(end.sentSamples, count, end.seed))
    end.sentSamples += count
  }

  async #end(address: string, seed: number): Promise<VirtualEnd> {
    const plane = new InlineMediaPlane({ time: this.time, random: this.random, network: this.network, address })
    const session = await plane.open({
      label: address,
      ...this.#options.session,
      ...(seed === 2 && this.#options.formatB && { format: this.#options.formatB }),
    })
    const events: MediaEvent[] = []
    session.onEvent(event => events.push(event))
    // Each end listens for the other's audio.
    return { session, plane, events, listener: new MarkedListener(3 - seed), sentSamples: 0, talking: false, seed }
  }

  #newKeys(): { readonly ab: SrtpKey; readonly ba: SrtpKey } | null {
    const { suite = 'AES_CM_128_HMAC_SHA1_80' } = this.#options
    if (suite === null) return null
    return {
      ab: { suite, keyAndSalt: this.random.bytes(keyAndSaltBytes(suite)) },
      ba: { suite, keyAndSalt: this.random.bytes(keyAndSaltBytes(suite)) },
    }
  }
}
