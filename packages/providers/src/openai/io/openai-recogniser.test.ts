import { FakeTranscriptionService, type ServiceFault } from '@parley/fakes'
import { type Ms, msToSamples, NARROWBAND, VirtualTime } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { TonesVoice } from '../../simulated/io/tones-voice.ts'
import type { SpeechEvent } from '../../speech-to-text/speech-to-text.ts'
import { speechToTextConformance } from '../../speech-to-text/testing/conformance.ts'
import { tonesRecogniser } from '../../speech-to-text/testing/tones-recogniser.ts'
import { OpenAiRecogniser } from './openai-recogniser.ts'

const voice = new TonesVoice()
const shared = await FakeTranscriptionService.open({ openRecogniser: tonesRecogniser })
afterAll(() => Promise.all([shared.close(), voice.close()]))

async function speak(text: string, language: string): Promise<Int16Array> {
  const audio: number[] = []
  for await (const chunk of voice.synthesize({ text, language }, new AbortController().signal))
    audio.push(...chunk.samples)
  return Int16Array.from(audio)
}

await speechToTextConformance(() => ({
  recogniser: new OpenAiRecogniser({
    baseUrl: shared.url,
    model: 'whisper-1',
    provider: 'local_stt',
    apiKey: null,
    time: runningTime,
  }),
  speak,
  languages: ['en', 'es'],
  // The server gets whole phrases; partial results are tested below.
  minPartials: 0,
  close: async () => {},
}))

const sentence = 'the garden is behind the house'
const spoken = await speak(sentence, 'en')

interface Opened {
  readonly reports?: 'words' | 'segments' | 'text'
  readonly faults?: readonly (ServiceFault | null)[]
  readonly keywords?: readonly string[]
}

/** A stream at a server of its own, in virtual time. */
async function open({ keywords = [], ...options }: Opened = {}) {
  const server = await FakeTranscriptionService.open({ openRecogniser: tonesRecogniser, ...options })
  const time = new VirtualTime()
  const recogniser = new OpenAiRecogniser({
    baseUrl: server.url,
    model: 'small',
    provider: 'local_stt',
    apiKey: null,
    time,
  })
  onTestFinished(async () => {
    await recogniser.close()
    await server.close()
  })
  const events: SpeechEvent[] = []
  const stream = recogniser.open({ language: 'en-US', keywords })
  stream.onEvent(event => events.push(event))
  let position = 0
  const write = (audio: Int16Array) => {
    stream.write(audio, position)
    position += audio.length
  }
  const silence = (ms: Ms) => write(new Int16Array(msToSamples(ms, NARROWBAND)))
  const of = <Type extends SpeechEvent['type']>(type: Type) =>
    events.filter((event): event is SpeechEvent & { type: Type } => event.type === type)
  const until = (type: SpeechEvent['type'], count = 1) =>
    expect.poll(() => of(type).length).toBeGreaterThanOrEqual(count)
  return { server, time, stream, write, silence, of, until }
}

describe('a local Whisper server', () => {
  it('a local Whisper server gets each phrase as a recording, with language, model and expected words', async () => {
    const { server, write, silence, of, until } = await open({ keywords: ['Parley', 'Ms Ito'] })
    write(spoken)
    silence(1000)
    await until('final')
    write(spoken)
    silence(1000)
    await until('final', 2)
    expect(of('final').map(({ text, fromFinalize }) => [text, fromFinalize])).toEqual([
      [sentence, false],
      [sentence, false],
    ])
    expect(server.requests.at(-1)).toMatchObject({
      model: 'small',
      language: 'en',
      prompt: 'Parley, Ms Ito',
      response_format: 'verbose_json',
    })
  })

  it('a local Whisper server is asked for the words so far while the caller speaks', async () => {
    const { write, silence, of, until } = await open()
    const half = msToSamples(1400, NARROWBAND)
    write(spoken.subarray(0, half))
    await until('partial')
    write(spoken.subarray(half))
    silence(1000)
    await until('final')
    expect(sentence.startsWith(of('partial')[0]!.text)).toBe(true)
    expect(of('final')[0]!.text).toBe(sentence)
  })

  it.each(['segments', 'text'] as const)('may report %s in place of words', async reports => {
    const { write, silence, of, until } = await open({ reports })
    silence(500)
    write(spoken)
    silence(1000)
    await until('final')
    const [{ text, words }] = of('final') as [SpeechEvent & { type: 'final' }]
    expect(text).toBe(sentence)
    expect(words.map(word => word.text).join(' ')).toBe(sentence)
    expect(words[0]!.startSample).toBeGreaterThan(msToSamples(300, NARROWBAND))
    expect(words.at(-1)!.endSample).toBeLessThan(msToSamples(600, NARROWBAND) + spoken.length)
  })

  it('a local Whisper server gets no request for silence', async () => {
    const { server, silence, stream, of } = await open()
    silence(5000)
    stream.finalize()
    expect(of('final')).toEqual([{ type: 'final', text: '', words: [], fromFinalize: true }])
    expect(server.requests).toEqual([])
  })

  it('that finds no words in speech makes it unintelligible', async () => {
    const { write, silence, of, until } = await open({ reports: 'text' })
    // Without the tones that the recogniser behind the fake decodes.
    write(
      Int16Array.from(spoken, (sample, at) => (sample + (spoken[at - 1] ?? 0) + (spoken[at - 2] ?? 0)) >> 2).reverse(),
    )
    silence(1000)
    await until('unintelligible')
    expect(of('final')).toEqual([])
  })
})

/** Faults, and the code of the error that each is reported as. */
const FAULTS: readonly (readonly [string, ServiceFault, string])[] = [
  ['is busy', { type: 'refuse', status: 503 }, 'recogniser_busy'],
  ['fails', { type: 'error', afterMs: 0 }, 'recogniser_failed'],
  ['closes the connection', { type: 'break-off', afterMs: 0 }, 'recogniser_unreachable'],
  ['answers with a web page', { type: 'garble' }, 'recogniser_failed'],
]

describe('a local Whisper server in trouble', () => {
  it.each(FAULTS)('that %s once is asked again, and no word is lost', async (_, fault, code) => {
    const { server, write, silence, stream, of, until } = await open()
    server.injectFaults(fault)
    write(spoken.subarray(0, msToSamples(600, NARROWBAND)))
    stream.finalize()
    await until('final')
    expect(of('error').map(({ error }) => [error.code, error.retryable])).toEqual([[code, true]])
    write(spoken)
    silence(1000)
    await until('final', 2)
    expect(of('final')[1]!.text).toContain('garden is behind the house')
  })

  it.each(FAULTS)('that %s repeatedly ends the stream, and finalize is answered', async (_, fault, code) => {
    const { server, write, stream, of, until } = await open()
    server.injectFaults(fault, fault, fault)
    write(spoken.subarray(0, msToSamples(600, NARROWBAND)))
    stream.finalize()
    await until('error', 2)
    expect(of('error').map(({ error }) => [error.code, error.retryable])).toEqual([
      [code, true],
      [code, false],
    ])
    expect(of('final')).toEqual([{ type: 'final', text: '', words: [], fromFinalize: true }])
  })

  it('that does not know the model ends the stream at once', async () => {
    const { server, write, stream, of, until } = await open()
    server.injectFaults({ type: 'refuse', status: 404 })
    write(spoken.subarray(0, msToSamples(600, NARROWBAND)))
    stream.finalize()
    await until('error')
    expect(of('error')[0]!.error).toMatchObject({ code: 'recogniser_refused', retryable: false })
  })

  it.each(['mute', 'stall'] as const)(
    'that is %s answers finalize after 3 s, and counts as failed after 8 s',
    async type => {
      const { server, time, write, stream, of, until } = await open()
      const fault = type === 'mute' ? ({ type } as const) : ({ type, afterMs: 0 } as const)
      server.injectFaults(fault)
      write(spoken.subarray(0, msToSamples(600, NARROWBAND)))
      stream.finalize()
      time.advance(3000)
      expect(of('final')).toEqual([{ type: 'final', text: '', words: [], fromFinalize: true }])
      time.advance(5000)
      await until('error')
      expect(of('error')[0]!.error).toMatchObject({ code: 'recogniser_failed', retryable: true })
    },
  )
})
