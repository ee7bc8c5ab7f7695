import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  FakeAssemblyAi,
  type FakeAssemblyAiOptions,
  FakeAzureRecogniser,
  FakeDeepgramFlux,
  type FakeDeepgramFluxOptions,
  FakeDeepgramListen,
  FakeGoogleRecogniser,
  type FakeRecogniser,
  FakeSoniox,
  FakeSpeechmatics,
} from '@parley/fakes'
import { NARROWBAND, VirtualTime, WIDEBAND } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { resample } from '@parley/media'
import { describe, expect, it, onTestFinished } from 'vitest'
import { assemblyAiStreaming } from '../assemblyai/streaming-v3.ts'
import { azureConversation } from '../azure/conversation-v1.ts'
import { deepgramNova } from '../deepgram/listen-v1.ts'
import { deepgramFlux } from '../deepgram/listen-v2.ts'
import { GoogleRecogniser } from '../google/io/google-recogniser.ts'
import { sonioxRealTime } from '../soniox/real-time.ts'
import type { SpeechStreamOptions } from '../speech-to-text/speech-to-text.ts'
import {
  amplitudeRecogniser,
  amplitudeSpeech,
  unintelligibleSpeech,
} from '../speech-to-text/testing/amplitude-speech.ts'
import { listenTo, textOf } from '../speech-to-text/testing/listened-stream.ts'
import { speechmaticsRealTime } from '../speechmatics/real-time-v2.ts'
import { ServiceRecogniser, type ServiceRecogniserOptions } from './service-recogniser.ts'

const KEY = 'a-secret-key-of-the-test'
type FakeOptions = Partial<FakeDeepgramFluxOptions & FakeAssemblyAiOptions>
interface Service {
  readonly name: string
  readonly fake: (
    options: FakeOptions & { apiKey: string; openRecogniser: typeof amplitudeRecogniser },
  ) => Promise<FakeRecogniser>
  readonly recogniser: (options: ServiceRecogniserOptions) => ServiceRecogniser
}

const NOVA: Service = {
  name: 'Deepgram Nova',
  fake: options => FakeDeepgramListen.open(options),
  recogniser: options => new ServiceRecogniser(deepgramNova(), options),
}
const FLUX: Service = {
  name: 'Deepgram Flux',
  fake: options => FakeDeepgramFlux.open(options),
  recogniser: options => new ServiceRecogniser(deepgramFlux('flux-general-en', { eagerEndOfTurn: 0.4 }), options),
}
const ASSEMBLY: Service = {
  name: 'AssemblyAI',
  fake: options => FakeAssemblyAi.open(options),
  recogniser: options => new ServiceRecogniser(assemblyAiStreaming(), options),
}
const SONIOX: Service = {
  name: 'Soniox',
  fake: options => FakeSoniox.open(options),
  recogniser: options => new ServiceRecogniser(sonioxRealTime(), options),
}
const SPEECHMATICS: Service = {
  name: 'Speechmatics',
  fake: options => FakeSpeechmatics.open(options),
  recogniser: options => new ServiceRecogniser(speechmaticsRealTime(), options),
}
const AZURE: Service = {
  name: 'Azure Speech',
  fake: options => FakeAzureRecogniser.open(options),
  recogniser: ({ baseUrl = '', ...options }) =>
    new ServiceRecogniser(azureConversation(baseUrl), { ...options, baseUrl: `${baseUrl}/stt` }),
}
const GOOGLE: Service = {
  name: 'Google',
  fake: options => FakeGoogleRecogniser.open(options),
  recogniser: options => new GoogleRecogniser('telephony', options),
}

async function openSession(
  service: Service,
  fakeOptions: FakeOptions = {},
  options: Partial<ServiceRecogniserOptions> & { stream?: Partial<SpeechStreamOptions> } = {},
) {
  const fake = await service.fake({ apiKey: KEY, openRecogniser: amplitudeRecogniser, ...fakeOptions })
  const recogniser = service.recogniser({ apiKey: KEY, baseUrl: fake.url, time: runningTime, ...options })
  onTestFinished(async () => {
    await recogniser.close()
    await fake.close()
  })
  const session = listenTo(recogniser.open({ language: 'en', ...options.stream }))
  return { fake, session }
}

const startsOf = (session: ReturnType<typeof listenTo>) =>
  session.events.flatMap(event => (event.type === 'final' ? event.words.map(word => word.startSample) : []))

describe.each([NOVA, FLUX, ASSEMBLY, SONIOX, SPEECHMATICS, AZURE, GOOGLE])(
  'a recogniser of $name when its service has faults',
  service => {
    it('a recogniser sends audio from before the connection was open faster than real time', async () => {
      const { session } = await openSession(service, { delays: { connectMs: 100 } })
      session.write(amplitudeSpeech('one two three four five six seven eight nine'))
      session.stream.finalize()
      expect(await session.finalText()).toBe('one two three four five six seven eight nine')
      const from = 1_000_000
      expect(startsOf(session)).toEqual(Array.from({ length: 9 }, (_, i) => from + 2000 * i))
    })

    it('a recogniser sends nine seconds of a wideband call from before the connection was open', async () => {
      const { fake, session } = await openSession(
        service,
        { delays: { connectMs: 100 } },
        { stream: { format: WIDEBAND } },
      )
      const text = Array.from({ length: 4 }, () => 'one two three four five six seven eight nine').join(' ')
      session.write(resample(amplitudeSpeech(text), NARROWBAND.sampleRateHz, WIDEBAND.sampleRateHz))
      // Silence makes the words final without a finalize request, which would be answered early on a slow machine.
      session.write(new Int16Array(0.9 * WIDEBAND.sampleRateHz))
      await session.until(events => textOf(events) === text)
      expect(startsOf(session)).toHaveLength(36)
      expect(startsOf(session).at(-1)! - 1_000_000).toBeCloseTo(2 * 35 * 2000, -2)
      expect(fake.log.queries[0]!.get('sample_rate')).toBe('16000')
      expect(fake.counts.connections).toBe(1)
    })

    it('a recogniser reports the sent audio to the millisecond as the service counts it', async () => {
      let reportedMs = 0
      const onSent = (audioMs: number) => {
        reportedMs += audioMs
      }
      const { fake, session } = await openSession(service, {}, { stream: { onSent } })
      session.write(amplitudeSpeech('one two three'))
      session.silence(2000)
      session.stream.finalize()
      await session.finalText()
      session.stream.close()
      await expect.poll(() => fake.log.audioBytes / 8).toBe(reportedMs)
      expect(reportedMs).toBeGreaterThan(2000)
    })

    it('a recogniser answers every finalize, also several before the connection is open', async () => {
      const { session } = await openSession(service, { delays: { connectMs: 50 } })
      session.write(amplitudeSpeech('seven three'))
      session.stream.finalize()
      session.write(amplitudeSpeech('five'))
      session.silence(50)
      session.stream.finalize()
      expect(await session.finalText(2)).toBe('seven three five')
      expect(session.events.filter(event => event.type === 'final' && event.fromFinalize)).toHaveLength(2)
    })

    it('a recogniser revises partial words, and gives late finals the times at which they were spoken', async () => {
      const { session } = await openSession(service, { revises: true, delays: { finalMs: 60 } })
      session.write(amplitudeSpeech('seven three'))
      session.silence(200)
      session.stream.finalize()
      expect(await session.finalText(1)).toBe('seven three')
      session.write(amplitudeSpeech('five'))
      session.silence(50)
      session.stream.finalize()
      expect(await session.finalText(2)).toBe('seven three five')
      const partials = session.events.flatMap(event => (event.type === 'partial' ? [event.text] : []))
      expect(partials.some(text => text.includes('sev') && !text.includes('seven'))).toBe(true)
      expect(startsOf(session)).toEqual([1_000_000, 1_002_000, 1_005_600])
    })

    it('a recogniser continues after a lost connection, with every word once at its time', async () => {
      const { fake, session } = await openSession(service)
      session.write(amplitudeSpeech('one two'))
      session.silence(1500)
      await session.event('final')
      session.write(amplitudeSpeech('three four'))
      session.silence(60)
      await session.until(events => events.some(event => event.type === 'partial' && /four/.test(event.text)))
      fake.breakOff()
      session.write(amplitudeSpeech('five'))
      const { error } = await session.event('error')
      expect(error).toMatchObject({ code: 'recogniser_unreachable', retryable: true })
      session.write(amplitudeSpeech('six'))
      session.silence(100)
      session.stream.finalize()
      expect(await session.finalText()).toBe('one two three four five six')
      expect(fake.counts).toMatchObject({ connections: 2, refused: 0 })
      const from = 1_000_000
      const second = from + 4000 + 12_000
      const third = second + 4000 + 480
      expect(startsOf(session)).toEqual([from, from + 2000, second, second + 2000, third, third + 2000])
    })

    it('a recogniser fails for good after a second lost connection', async () => {
      const { fake, session } = await openSession(service)
      session.write(amplitudeSpeech('one two'))
      session.silence(60)
      await session.event('partial')
      fake.breakOff()
      await session.event('error')
      session.write(amplitudeSpeech('three'))
      session.silence(60)
      await session.until(events => events.some(event => event.type === 'partial' && /three/.test(event.text)))
      fake.breakOff()
      const { error } = await session.event('error', 2)
      expect(error.retryable).toBe(false)
      expect(textOf(session.events)).toBe('one two three')
      const heard = session.events.length
      session.write(amplitudeSpeech('four'))
      session.stream.finalize()
      expect(session.events.length).toBe(heard)
      expect(fake.counts.connections).toBe(2)
    })

    it('a recogniser fails at once when its key is refused, with an error that does not contain the key', async () => {
      const { fake, session } = await openSession(service, { apiKey: 'another' })
      session.write(amplitudeSpeech('one'))
      const { error } = await session.event('error')
      expect(error).toMatchObject({ code: 'recogniser_refused', retryable: false })
      expect(`${error.message} ${error.stack}`).not.toContain(KEY)
      expect(fake.counts.connections + fake.counts.refused).toBe(1)
    })

    it('a recogniser connects again after the Retry-After time, unless that is too late for the call', async () => {
      const { fake, session } = await openSession(service, {
        faults: [{ type: 'refuse', status: 429, retryAfterS: 0 }],
      })
      session.write(amplitudeSpeech('eight'))
      session.silence(60)
      session.stream.finalize()
      expect(await session.finalText()).toBe('eight')
      expect(await session.event('error')).toMatchObject({ error: { code: 'recogniser_busy', retryable: true } })
      expect(fake.counts).toMatchObject({ connections: 1, refused: 1 })
      const other = await openSession(service, { faults: [{ type: 'refuse', status: 429, retryAfterS: 60 }] })
      expect(await other.session.event('error')).toMatchObject({ error: { code: 'recogniser_busy', retryable: false } })
    })

    it('a recogniser goes on after an error message and malformed messages of the service', async () => {
      const { fake, session } = await openSession(service, {
        faults: [{ type: 'error', afterMs: 5 }, { type: 'garble' }],
      })
      session.write(amplitudeSpeech('one two'))
      session.silence(60)
      const { error } = await session.event('error')
      expect(error).toMatchObject({ code: 'recogniser_failed', retryable: true })
      session.write(amplitudeSpeech('three'))
      session.silence(60)
      session.stream.finalize()
      expect(await session.finalText()).toBe('one two three')
      expect(fake.counts.connections).toBe(2)
    })

    it('a recogniser answers finalize with the words so far when the service stalls', async () => {
      const time = new VirtualTime()
      const { session } = await openSession(
        service,
        { time, faults: [{ type: 'stall', afterMs: 1000 }] },
        { finalizeMs: 400 },
      )
      session.write(amplitudeSpeech('one two'))
      session.silence(60)
      await session.until(events => events.some(event => event.type === 'partial' && /two/.test(event.text)))
      time.advance(1000)
      session.stream.finalize()
      expect(await session.finalText()).toBe('one two')
      // A service that detects turns may have ended this one before it stalls: then finalize adds no words.
      expect(session.events.at(-1)).toMatchObject({ type: 'final', fromFinalize: true })
    })

    it('a recogniser sends the close message of the service when it is closed', async () => {
      const { fake, session } = await openSession(service)
      session.write(amplitudeSpeech('one'))
      session.silence(100)
      await session.event('partial')
      session.stream.close()
      while (fake.counts.open > 0) await new Promise(resolve => setTimeout(resolve, 5))
      expect(fake.log.messages.at(-1)).toMatch(/^(CloseStream|Terminate|end|EndOfStream)$/)
    })

    it('a recogniser sends the expected words, without those that the service would refuse', async () => {
      const keywords = ['Parley', 'Ångström', 'x'.repeat(400)]
      const { fake, session } = await openSession(service, {}, { stream: { keywords } })
      session.write(amplitudeSpeech('one'))
      session.silence(60)
      await session.event('partial')
      const [query] = fake.log.queries
      const terms = query!.has('keyterms_prompt')
        ? JSON.parse(query!.get('keyterms_prompt')!)
        : query!.getAll('keyterm')
      expect(terms).toEqual(['Parley', 'Ångström'])
    })
  },
)

it('an error of a recogniser never contains the key, even when the service repeats it', async () => {
  const server = createServer()
  server.on('upgrade', ({ headers }, socket) => {
    const body = `Who is ${headers.authorization}?`
    socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const recogniser = NOVA.recogniser({ apiKey: KEY, baseUrl, time: runningTime })
  onTestFinished(async () => {
    await recogniser.close()
    server.close()
  })
  const { error } = await listenTo(recogniser.open({ language: 'en' })).event('error')
  expect(error).toMatchObject({ code: 'recogniser_refused', message: 'Deepgram: Who is Token …?' })
})

it('a recogniser is not ready without a key, and refuses unusable keys and addresses', async () => {
  const unkeyed = NOVA.recogniser({ apiKey: null, time: runningTime })
  expect(await unkeyed.readiness()).toBe('no key')
  expect(await NOVA.recogniser({ apiKey: KEY, time: runningTime }).readiness()).toBe(null)
  const misconfigured = expect.objectContaining({ code: 'recogniser_misconfigured' })
  for (const options of [
    { apiKey: 'two\r\nlines' },
    ...['https://api.deepgram.com', 'nowhere', 'wss://host/#part', 'wss://host/?a=b'].map(baseUrl => ({ baseUrl })),
  ])
    expect(() => NOVA.recogniser({ apiKey: KEY, time: runningTime, ...options })).toThrow(misconfigured)
})

describe('unintelligible speech', () => {
  it.each([
    { ...NOVA, options: {} },
    { ...FLUX, options: {} },
    { ...ASSEMBLY, options: { speechStarted: true } },
  ])('unintelligible speech is reported by a recogniser of $name', async ({ options, ...service }) => {
    const { session } = await openSession(service, options)
    session.silence(200)
    session.write(unintelligibleSpeech(8000))
    session.silence(1500)
    const { startSample, endSample } = await session.event('unintelligible')
    expect(session.events[0]).toEqual({ type: 'speech-started', atSample: startSample })
    expect(Math.abs(startSample - 1_001_600)).toBeLessThan(4200)
    expect(endSample).toBeGreaterThan(1_009_000)
    expect(textOf(session.events)).toBe('')
  })
})

describe('the end of a turn', () => {
  it('the end of a turn is reported by Flux as eager, then resumed, then certain', async () => {
    const { session } = await openSession(FLUX)
    session.write(amplitudeSpeech('one two'))
    session.silence(300)
    session.write(amplitudeSpeech('three'))
    session.silence(1000)
    await session.until(events => events.some(event => event.type === 'end-of-turn' && !event.eager))
    const turns = session.events.filter(({ type }) => type !== 'partial')
    expect(turns.map(event => (event.type === 'end-of-turn' && event.eager ? 'eager' : event.type))).toEqual([
      'speech-started',
      'eager',
      'turn-resumed',
      'eager',
      'final',
      'end-of-turn',
    ])
    expect(turns[1]).toMatchObject({ atSample: 1_003_600, confidence: 0.55 })
    expect(turns[5]).toMatchObject({ atSample: 1_008_000, confidence: 0.85 })
  })

  it('the end of a turn is reported by AssemblyAI once, although the turn arrives again formatted', async () => {
    const { session } = await openSession(ASSEMBLY, { formats: true })
    session.write(amplitudeSpeech('one two'))
    session.silence(500)
    session.write(amplitudeSpeech('three'))
    session.silence(500)
    await session.event('end-of-turn', 2)
    expect(textOf(session.events)).toBe('one two three')
    expect(session.events.filter(({ type }) => type === 'end-of-turn')).toHaveLength(2)
  })

  it('the end of a turn is not reported when finalize forced it', async () => {
    for (const service of [FLUX, ASSEMBLY, SONIOX]) {
      const { session } = await openSession(service)
      session.write(amplitudeSpeech('one two'))
      session.silence(60)
      session.stream.finalize()
      await session.finalText()
      expect(session.events.some(event => event.type === 'end-of-turn')).toBe(false)
    }
  })

  it('the end of a turn is reported by older versions of Flux, which send neither word times nor triggers', async () => {
    const { session } = await openSession(FLUX, { wordTimes: false, triggers: false })
    session.write(amplitudeSpeech('one two three four'))
    session.silence(100)
    session.stream.finalize()
    session.silence(700)
    expect(await session.finalText()).toBe('one two three four')
    for (const start of startsOf(session)) {
      expect(start).toBeGreaterThanOrEqual(1_000_000)
      expect(start).toBeLessThan(1_009_000)
    }
  })
})

describe('a pause in the audio of a call', () => {
  it('a pause in the audio of a call does not close a stream of Flux, which has no keep-alive message', async () => {
    const time = new VirtualTime()
    let sentMs = 0
    const onSent = (audioMs: number) => {
      sentMs += audioMs
    }
    const { fake, session } = await openSession(FLUX, { time, idleCloseMs: 700 }, { time, stream: { onSent } })
    const hasArrived = () => expect.poll(() => fake.log.audioBytes / 8, { interval: 1 }).toBe(sentMs)
    session.write(amplitudeSpeech('one'))
    session.silence(60)
    await session.event('partial')
    // No audio comes, and still the turn ends.
    for (let passed = 0; passed < 10; passed++) {
      await hasArrived()
      time.advance(500)
    }
    await session.event('end-of-turn')
    session.position += 40_000
    session.write(amplitudeSpeech('two'))
    session.silence(60)
    session.stream.finalize()
    expect(await session.finalText()).toBe('one two')
    expect(startsOf(session)).toEqual([1_000_000, 1_042_480])
    expect(fake.counts.connections).toBe(1)
  })

  it('a pause in the audio of a call leads to no message that AssemblyAI refuses as too short or too long', async () => {
    const { fake, session } = await openSession(ASSEMBLY)
    for (const word of ['one', 'two', 'three']) {
      session.write(amplitudeSpeech(word).subarray(0, 1650))
      session.position += 160_000
    }
    session.silence(10)
    session.stream.finalize()
    expect(await session.finalText()).toBe('one two three')
    expect(fake.log.shortest).toBeGreaterThanOrEqual(400)
    expect(fake.log.longest).toBeLessThanOrEqual(8000)
    expect(fake.log.closes).toEqual([])
  })
})
