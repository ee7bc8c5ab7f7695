import type { FakeVoiceOptions, ServiceFault } from '@parley/fakes'
import { NARROWBAND, VirtualTime, WIDEBAND } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { TonesSpeech } from './tones-speech.ts'
import { expectSame, type MakeVoice, Utterance, until, VoiceHarness, type VoiceUnderTest } from './voice-harness.ts'

const API_KEY = 'secret-key-of-the-test'
const SHORT = 'One, two, three.'
const WORDS = "We ordered 12 chairs – it's true – but only 11 arrived!"
/** Its first audio comes later than a fault 60 ms after the request would, as on a busy machine; its whole audio takes longer than 60 ms. */
const LATE_AND_PACED = { delays: { firstMs: 100 }, pace: 20, pieceBytes: 321 }
const LONG = 'The garden is behind the house, and nobody has been there since the summer. '.repeat(3).trim()

/** What every voice of a service must do when its service is slow, faulty or refuses requests. */
export function voiceServiceConformance(tested: VoiceUnderTest, speech: TonesSpeech): void {
  const openHarness = async (
    fakeOptions: Partial<FakeVoiceOptions> = {},
    voiceOptions: Partial<MakeVoice> = {},
  ): Promise<VoiceHarness> => {
    const fake = await tested.open({ apiKey: API_KEY, speak: speech.speak, ...fakeOptions })
    const voice = tested.make({ url: fake.url, apiKey: API_KEY, time: runningTime, ...voiceOptions })
    onTestFinished(async () => {
      await voice.close()
      await fake.close()
    })
    return new VoiceHarness(fake, voice)
  }
  const alone = async (text: string) => {
    const { say } = await openHarness()
    const utterance = say(text)
    expect(await utterance.ended).toBe(null)
    return utterance
  }
  describe(`${tested.name} and its service`, () => {
    // The built-in voice needs seconds for a new text, and caches it.
    beforeAll(async () => {
      for (const text of [SHORT, LONG, WORDS, 'One.']) await speech.speak(spoken(text))
    })
    refusals(tested, openHarness, speech)
    timeouts(openHarness)
    breaks(tested, openHarness, alone)
    cancels(tested, openHarness, alone)
    connections(tested, openHarness, alone)
    pieces(tested, openHarness, alone, speech)
  })
}

/** The request that the fake passes on for an utterance of `text`. */
function spoken(text: string, format = NARROWBAND): Parameters<TonesSpeech['speak']>[0] {
  return { text, language: 'en', speed: 1, format }
}

type MakeHarness = (fake?: Partial<FakeVoiceOptions>, voice?: Partial<MakeVoice>) => Promise<VoiceHarness>
type Alone = (text: string) => Promise<Utterance>

function refusals(tested: VoiceUnderTest, openHarness: MakeHarness, speech: TonesSpeech): void {
  it('a refused key fails with "voice_refused", not retryable, without revealing the key', async () => {
    const apiKey = 'another-secret-key'
    const { say } = await openHarness({}, { apiKey })
    const error = await say(SHORT).ended
    expect(error).toMatchObject({ name: 'ParleyError', code: 'voice_refused', retryable: false })
    expect(`${error} ${JSON.stringify(error)} ${String((error as Error).cause)}`).not.toContain(apiKey)
  })

  it('the reported characters equal those that the service received, also for cancelled utterances', async () => {
    let received = 0
    const speak: FakeVoiceOptions['speak'] = request => {
      received += [...request.text].length
      return speech.speak(request)
    }
    const { say } = await openHarness({ speak })
    let reported = 0
    const onSent = (characters: number) => {
      reported += characters
    }
    expect(await say(SHORT, { onSent }).ended).toBe(null)
    const stopped = say(LONG, { onSent })
    await until(() => stopped.chunks.length > 0)
    stopped.abort()
    expect(await stopped.ended).toBe(null)
    expect(await say(WORDS, { onSent }).ended).toBe(null)
    expect(reported).toBe(received)
    expect(reported).toBe([...SHORT, ...LONG, ...WORDS].length)
  })

  it('a refused key reports no characters as sent', async () => {
    const { say } = await openHarness({}, { apiKey: 'another-secret-key' })
    const sent: number[] = []
    await say(SHORT, { onSent: count => sent.push(count) }).ended
    expect(sent).toEqual([])
  })

  it.each([
    [429, 'voice_busy'],
    [503, 'voice_busy'],
    [502, 'voice_unreachable'],
  ])('the answer %i fails with the retryable error "%s"', async (status, code) => {
    const { say } = await openHarness({ faults: [{ type: 'refuse', status, retryAfterS: 3 }] })
    expect(await say(SHORT).ended).toMatchObject({ code, retryable: true })
    expect(await say(SHORT).ended).toBe(null)
  })

  it('a service that cannot be reached fails with "voice_unreachable"', async () => {
    const { fake, say } = await openHarness()
    await fake.close()
    expect(await say(SHORT).ended).toMatchObject({ code: 'voice_unreachable', retryable: true })
  })

  it('an unknown voice fails with an error that is not retryable', async () => {
    const { voice, code } = tested.unknownVoice
    const { say } = await openHarness()
    expect(await say(SHORT, { voice }).ended).toMatchObject({ code, retryable: false })
  })

  it('a voice without a key is not ready and sends no request', async () => {
    const { fake, voice, say } = await openHarness({}, { apiKey: '' })
    expect(await voice.readiness()).toMatch(/key/)
    expect(await say(SHORT).ended).toMatchObject({ code: 'voice_refused' })
    expect(fake.counts.connections + fake.counts.refused).toBe(0)
  })
}

function timeouts(openHarness: MakeHarness): void {
  it('a service that sends nothing fails the utterance after five seconds', async () => {
    const time = new VirtualTime()
    const { fake, say } = await openHarness({ faults: [{ type: 'mute' }] }, { time })
    let ended = false
    const utterance = say(SHORT)
    void utterance.ended.then(() => {
      ended = true
    })
    await until(() => fake.counts.connections === 1)
    time.advance(4999)
    await new Promise(resolve => setImmediate(resolve))
    expect(ended).toBe(false)
    time.advance(1)
    expect(await utterance.ended).toMatchObject({ code: 'voice_failed', retryable: true })
  })

  it('an utterance that stalls delivers the received audio and then fails', async () => {
    const faults: ServiceFault[] = [{ type: 'stall', afterMs: 60 }]
    const budgets = { firstAudioMs: 5000, idleMs: 200 }
    const { say } = await openHarness({ faults, ...LATE_AND_PACED }, { budgets })
    const utterance = say(LONG)
    expect(await utterance.ended).toMatchObject({ code: 'voice_failed', retryable: true })
    expect(utterance.samples.length).toBeGreaterThan(0)
  })
}

function breaks(tested: VoiceUnderTest, openHarness: MakeHarness, alone: Alone): void {
  it.each<[string, ServiceFault]>([
    ['breaks off', { type: 'break-off', afterMs: 60 }],
    ['sends an error', { type: 'error', afterMs: 60 }],
  ])('a service that %s in the middle leaves the received audio and a retryable error', async (_name, faults) => {
    const { say } = await openHarness({ faults: [faults], ...LATE_AND_PACED })
    const whole = await alone(LONG)
    const utterance = say(LONG)
    expect(await utterance.ended).toMatchObject({ name: 'ParleyError', retryable: true })
    expect(utterance.samples.length).toBeGreaterThan(0)
    expectSame(utterance.samples, whole.samples.slice(0, utterance.samples.length))
    expect(await say(SHORT).ended).toBe(null)
  })

  it('garbage of the service is ignored or fails the utterance', async () => {
    const { say } = await openHarness({ faults: [{ type: 'garble' }] })
    const utterance = say(SHORT)
    if (tested.over === 'http') expect(await utterance.ended).toMatchObject({ code: 'voice_failed' })
    else {
      expect(await utterance.ended).toBe(null)
      expectSame(utterance.samples, (await alone(SHORT)).samples)
    }
  })

  it('the voice opens another connection when the service closed an idle one', async () => {
    const { fake, say } = await openHarness()
    const first = say(SHORT)
    expect(await first.ended).toBe(null)
    fake.closeIdle()
    await until(() => fake.counts.open === 0)
    const second = say(SHORT)
    expect(await second.ended).toBe(null)
    expectSame(second.samples, first.samples)
    expect(fake.counts.connections).toBe(2)
  })

  it('an utterance on a connection that the service closed is repeated once on a new one', async () => {
    const { fake, say } = await openHarness()
    const first = say(SHORT)
    expect(await first.ended).toBe(null)
    const second = say(SHORT)
    fake.breakOff()
    expect(await second.ended).toBe(null)
    expectSame(second.samples, first.samples)
    expect(fake.counts.connections).toBe(2)
  })

  it('an utterance fails after one repetition when the service breaks every connection', async () => {
    const { fake, say } = await openHarness()
    expect(await say(SHORT).ended).toBe(null)
    fake.injectFaults({ type: 'break-off', afterMs: 0 }, { type: 'break-off', afterMs: 0 })
    const second = say(SHORT)
    // Over HTTP a fault belongs to a request, so the first fault breaks the reused connection.
    if (tested.over === 'socket') fake.breakOff()
    expect(await second.ended).toMatchObject({ name: 'ParleyError', retryable: true })
    expect(fake.counts.connections).toBe(2)
  })
}

function cancels(tested: VoiceUnderTest, openHarness: MakeHarness, alone: Alone): void {
  it('audio after a cancel is delivered neither at once nor in the next utterance', async () => {
    const short = await alone(SHORT)
    const { voice, fake, say } = await openHarness({ pace: 30, pieceBytes: 321, lateMessages: 10 })
    for (let i = 0; i < 3; i++) {
      const stopped: Utterance = new Utterance(voice, { text: LONG, language: 'en' }, utterance => utterance.abort())
      expect(await stopped.ended).toBe(null)
      const next = say(SHORT)
      expect(await next.ended).toBe(null)
      expectSame(next.samples, short.samples)
      expect(stopped.chunks.length).toBe(1)
    }
    if (fake.counts.cancelled > 0 && tested.over === 'socket') expect(fake.counts.lateMessages).toBeGreaterThan(0)
    if (tested.over === 'http') await until(() => fake.counts.cancelled === 3)
  })

  it('an utterance that is cancelled before the connection opens is never sent', async () => {
    const { fake, say } = await openHarness({ delays: { connectMs: tested.over === 'socket' ? 30 : 0, firstMs: 30 } })
    const stopped = say(LONG)
    await until(() => tested.over === 'http' || fake.counts.connections === 0)
    stopped.abort()
    expect(await stopped.ended).toBe(null)
    expect(await say(SHORT).ended).toBe(null)
    expect(fake.counts.utterances).toBe(1)
  })

  it('utterances are delivered complete while most others are cancelled', async () => {
    const short = await alone(SHORT)
    const { voice, say } = await openHarness({ pace: 100, pieceBytes: 321 })
    const stopped: Utterance[] = []
    const whole: Utterance[] = []
    for (let i = 0; i < 12; i++) {
      stopped.push(new Utterance(voice, { text: LONG, language: 'en' }, utterance => utterance.abort()))
      if (i % 4 === 0) whole.push(say(SHORT))
    }
    for (const utterance of [...stopped, ...whole]) expect(await utterance.ended).toBe(null)
    for (const utterance of whole) expectSame(utterance.samples, short.samples)
  })
}

function connections(tested: VoiceUnderTest, openHarness: MakeHarness, alone: Alone): void {
  // A connection over HTTP becomes free only after the end of its answer was read.
  const maxConnections = tested.over === 'http' ? 2 : 1
  it('consecutive utterances share a connection', async () => {
    const { fake, say } = await openHarness()
    for (let i = 0; i < 6; i++) expect(await say(SHORT).ended).toBe(null)
    expect(fake.counts.connections).toBeLessThanOrEqual(maxConnections)
  })

  it('concurrent utterances share connections up to the limit and do not mix', async () => {
    const [short, long] = [await alone(SHORT), await alone(LONG)]
    const { fake, say } = await openHarness()
    const all = Array.from({ length: 15 }, (_, i) => say(i % 2 === 0 ? SHORT : LONG))
    for (const [i, utterance] of all.entries()) {
      expect(await utterance.ended).toBe(null)
      expectSame(utterance.samples, (i % 2 === 0 ? short : long).samples)
    }
    expect(fake.counts.connections).toBeLessThanOrEqual(Math.ceil(15 / tested.utterancesPerConnection))
    expect(fake.counts.maxConcurrent).toBeLessThanOrEqual(tested.utterancesPerConnection)
  })

  it('utterances beyond the connection limit wait in order', async () => {
    const { fake, say } = await openHarness({}, { maxSockets: 1 })
    const order: number[] = []
    const count = tested.utterancesPerConnection + 3
    const all = Array.from({ length: count }, (_, i) => {
      const utterance = say(SHORT)
      void utterance.ended.then(() => order.push(i))
      return utterance
    })
    for (const utterance of all) expect(await utterance.ended).toBe(null)
    expect(order.at(-1)).toBe(count - 1)
    expect(fake.counts.connections).toBe(1)
  })

  it('an utterance that gets no connection in time fails with "voice_busy"', async () => {
    const time = new VirtualTime()
    const { fake, say } = await openHarness({ faults: [{ type: 'mute' }] }, { time, maxSockets: 1 })
    const first = Array.from({ length: tested.utterancesPerConnection }, () => say(SHORT))
    await until(() => fake.counts.connections === 1)
    const waiting = say(SHORT)
    await new Promise(resolve => setImmediate(resolve))
    time.advance(5000)
    expect(await waiting.ended).toMatchObject({ code: 'voice_busy', retryable: true })
    for (const utterance of first) expect(await utterance.ended).toMatchObject({ code: 'voice_failed' })
  })

  it('a warmed voice has a connection for the first utterance', async () => {
    const { fake, voice, say } = await openHarness()
    voice.warm!({ language: 'en' })
    await until(() => fake.counts.connections === 1)
    expect(await say(SHORT).ended).toBe(null)
    expect(fake.counts.connections).toBeLessThanOrEqual(maxConnections)
    // A language that the voice does not speak opens no connection, and throws nothing.
    voice.warm!({ language: 'tlh' })
  })

  it('closing the voice fails utterances in progress and leaves no connection', async () => {
    const { fake, voice, say } = await openHarness({ pace: 20, pieceBytes: 321 })
    const utterance = say(LONG)
    await until(() => utterance.chunks.length > 0)
    await voice.close()
    expect(await utterance.ended).toMatchObject({ code: 'voice_closed' })
    await until(() => fake.counts.open === 0)
  })
}

function pieces(tested: VoiceUnderTest, openHarness: MakeHarness, alone: Alone, speech: TonesSpeech): void {
  it.each([1, 7, 161, 100_000])(
    'the delivered audio is the same when the service sends pieces of %i bytes',
    async pieceBytes => {
      const whole = await alone('One.')
      const { say } = await openHarness({ pieceBytes })
      const utterance = say('One.')
      expect(await utterance.ended).toBe(null)
      expectSame(utterance.samples, whole.samples)
      for (const { samples } of utterance.chunks.slice(0, -1)) expect(samples.length).toBeGreaterThanOrEqual(80)
    },
  )

  it('each word of the text is delivered with the audio in which it begins', async () => {
    const { say } = await openHarness()
    const utterance = say(WORDS)
    expect(await utterance.ended).toBe(null)
    if (!tested.hasWordTimes) return expect(utterance.words).toEqual([])
    expect(utterance.words).toEqual(WORDS.split(' '))
    const delivered = utterance.chunks.flatMap(({ words }) => words)
    const { words } = await speech.speak(spoken(WORDS))
    for (const { text, startMs } of words)
      expect(Math.abs(delivered.find(word => word.text === text)!.startMs - startMs)).toBeLessThan(1)
    let end = 0
    for (const { samples, words } of utterance.chunks) {
      end += samples.length / 8
      for (const { startMs } of words) expect(startMs).toBeLessThan(end)
    }
  })
  it('speaks at 16 kHz for a wideband call, with each word at the same time as at 8 kHz', async () => {
    const { say } = await openHarness()
    const [narrow, wide] = [say(WORDS), say(WORDS, { format: WIDEBAND })]
    expect([await narrow.ended, await wide.ended]).toEqual([null, null])
    expect(Math.abs(wide.samples.length - 2 * narrow.samples.length)).toBeLessThan(16 * 5)
    if (tested.over === 'socket') expectSame(wide.samples, (await speech.speak(spoken(WORDS, WIDEBAND))).samples)
    const timesOf = ({ chunks }: Utterance) => chunks.flatMap(({ words }) => words)
    expect(timesOf(wide).map(({ text }) => text)).toEqual(timesOf(narrow).map(({ text }) => text))
    for (const [i, { startMs }] of timesOf(wide).entries())
      expect(Math.abs(startMs - timesOf(narrow)[i]!.startMs)).toBeLessThan(5)
  })
}
