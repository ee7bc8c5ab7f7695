import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMITS_WHEN_LATE, type Call, Engine, testPlan, testRouter } from '@parley/engine/testing'
import { type Ms, randomToken, SeededRandom, TransientMap } from '@parley/kernel'
import { ensureLocalCertificate, parseUri, type SipUri } from '@parley/leg'
import { type PhoneCall, VirtualPhone } from '@parley/phone'
import type { TextToSpeech } from '@parley/providers'
import { collectGarbage } from '../attacks/memory.ts'

/** Files that the recordings of calls take in turns. */
const RECORDING_FILES = 256
/** Longer than any call of these proofs takes to be answered on a busy machine. */
const ANSWER_MS: Ms = 20_000

/** What a process holds while no call is live. */
export interface Resources {
  /** Files and sockets. */
  readonly descriptors: number
  /** Mappings of memory, in which the rings of calls are. */
  readonly mappings: number
  /** What keeps the process alive, and the timers of it. */
  readonly handles: number
  readonly timers: number
  readonly heapBytes: number
  readonly residentBytes: number
  readonly sessions: number
  /** Calls that the engine has, and places of calls that it has given. */
  readonly calls: number
  readonly places: number
  readonly media: string
}

/** An engine and a phone of one process that call each other over TLS and SRTP, on real sockets; the engine records. */
export class Line {
  readonly engine: Engine
  readonly phone: VirtualPhone
  readonly #inboundUri: string
  readonly #home: string
  /** Calls that were dialled to the phone, by Call-ID. */
  readonly #answered = new TransientMap<string, PromiseWithResolvers<PhoneCall>>()

  private constructor(engine: Engine, phone: VirtualPhone, inboundUri: string, home: string) {
    this.engine = engine
    this.phone = phone
    this.#inboundUri = inboundUri
    this.#home = home
    void this.#answer()
  }

  static async open(seed: number): Promise<Line> {
    const home = await mkdtemp(join(tmpdir(), 'parley-leaks.'))
    const tls = await ensureLocalCertificate(home, { names: ['localhost'], addresses: ['127.0.0.1'] })
    const token = randomToken(new SeededRandom(seed), 26)
    const endpoint = { tls, rtp: { ports: { from: 11_000, to: 14_999 }, threads: 1 }, userAgentName: 'Parley' }
    const engine = await Engine.start({
      endpoint,
      router: testRouter([{ token, security: 'srtp-required', plan: () => planIn(home) }]),
      ...ADMITS_WHEN_LATE,
    })
    const phone = await VirtualPhone.open({
      endpoint: { ...endpoint, rtp: { ...endpoint.rtp, ports: { from: 15_000, to: 18_999 } } },
      maxWaitingCalls: RECORDING_FILES,
    })
    const inboundUri = `sip:${token}@127.0.0.1:${engine.endpoint.port('tls')};transport=tls`
    return new Line(engine, phone, inboundUri, home)
  }

  async close(): Promise<void> {
    await this.phone.close()
    await this.engine.close()
    await rm(this.#home, { recursive: true, force: true })
  }

  /**
   * Makes one call and ends it `afterMs` after its answer: by its number inbound or outbound, and ended by either side. Returns
   * whether it was ended by a confirmed BYE.
   */
  async call(number: number, afterMs: Ms): Promise<boolean> {
    const phoneHangsUp = number % 4 < 2
    return number % 2 === 0 ? await this.#inbound(phoneHangsUp, afterMs) : await this.#outbound(phoneHangsUp, afterMs)
  }

  /** Begins a call that neither end hangs up. */
  async forget(): Promise<void> {
    await this.phone.call(this.#inboundUri)
  }

  async resources(): Promise<Resources> {
    collectGarbage()
    const { heapUsed, rss } = process.memoryUsage()
    const active = process.getActiveResourcesInfo()
    const timers = active.filter(name => name === 'Timeout').length
    return {
      descriptors: (await readdir('/proc/self/fd').catch(() => [])).length,
      mappings: (await readFile('/proc/self/maps', 'utf8').catch(() => '')).split('\n').length,
      handles: active.length - timers,
      timers,
      heapBytes: heapUsed,
      residentBytes: rss,
      sessions: this.engine.endpoint.userAgent.sessionCount,
      calls: this.engine.calls.size,
      places: this.engine.capacity.taken,
      media: this.engine.endpoint.media.describe(),
    }
  }

  async #inbound(phoneHangsUp: boolean, afterMs: Ms): Promise<boolean> {
    const call = await this.phone.call(this.#inboundUri)
    await call.waitFor('answered', ANSWER_MS)
    await sleep(afterMs)
    if (phoneHangsUp) call.leg.hangUp()
    else for (const live of this.engine.calls) if (live.leg.callId === call.leg.callId) live.cancel()
    const end = await call.ended
    return end.cause === 'bye' && end.confirmed
  }

  async #outbound(phoneHangsUp: boolean, afterMs: Ms): Promise<boolean> {
    const call: Call = await this.engine.dial({
      uri: parseUri(this.phone.uri()) as SipUri,
      from: { displayName: undefined, uri: parseUri('sip:engine@localhost') as SipUri, params: new Map() },
      security: 'srtp-required',
      plan: planIn(this.#home),
    })
    const answered = await this.#answerTo(call.leg.callId).promise
    this.#answered.delete(call.leg.callId)
    await answered.waitFor('answered', ANSWER_MS)
    await sleep(afterMs)
    if (phoneHangsUp) answered.leg.hangUp()
    else call.cancel()
    const { end } = await call.report
    return end.cause === 'bye' && end.confirmed
  }

  async #answer(): Promise<void> {
    for (;;) {
      const call = await this.phone.nextCall()
      this.#answerTo(call.leg.callId).resolve(call)
    }
  }

  #answerTo(callId: string): PromiseWithResolvers<PhoneCall> {
    const known = this.#answered.get(callId)
    if (known !== undefined) return known
    const answer = Promise.withResolvers<PhoneCall>()
    this.#answered.set(callId, answer)
    return answer
  }
}

let recordings = 0

function planIn(home: string) {
  const recordingPath = join(home, `${recordings++ % RECORDING_FILES}.wav`)
  return testPlan({ voice: silence }, { recordingPath })
}

const silence: TextToSpeech = {
  id: 'test/silence',
  languages: ['en'],
  readiness: async () => null,
  async *synthesize() {
    yield { samples: new Int16Array(8000), words: [] }
  },
  close: async () => {},
}
