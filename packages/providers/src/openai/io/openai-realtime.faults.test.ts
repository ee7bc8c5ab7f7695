import { type FakeModelStep, FakeRealtime } from '@parley/fakes'
import { type Ms, msToSamples, NARROWBAND, VirtualTime } from '@parley/kernel'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GenerationEvent } from '../../language-model/language-model.ts'
import type { SpeechEvent } from '../../speech-to-text/speech-to-text.ts'
import { tonesRecogniser } from '../../speech-to-text/testing/tones-recogniser.ts'
import { TonesSpeech } from '../../text-to-speech/testing/tones-speech.ts'
import { OpenAiRealtime } from './openai-realtime.ts'

/** The unkindness of OpenAI Realtime, with the session's timers in virtual time. */

const KEY = 'sk-proj-this-is-the-key'
const SAYS: readonly FakeModelStep[] = [
  { do: 'say', text: 'Good morning.' },
  { do: 'finish', reason: 'stop' },
]
const REQUEST = {
  messages: [
    { role: 'system', content: 'You work at a clinic.' },
    { role: 'user', content: 'Hello' },
  ],
  spoken: true,
} as const

interface Opened {
  readonly key?: string
  readonly voice?: string
  /** The service's transcripts come this much later. */
  readonly transcriptMs?: Ms
}

async function open({ key = KEY, voice: wanted, transcriptMs = 0 }: Opened = {}) {
  const voice = new TonesSpeech()
  const service = await FakeRealtime.open({
    apiKey: KEY,
    openRecogniser: tonesRecogniser,
    speak: voice.speak,
    delays: { finalMs: transcriptMs },
  })
  const time = new VirtualTime()
  const model = new OpenAiRealtime({ baseUrl: service.baseUrl, apiKey: key, model: 'gpt-realtime', time })
  onTestFinished(async () => {
    await model.close()
    await service.close()
    await voice.close()
  })
  const session = model.open({ language: 'en', keywords: ['Hillside'], voice: wanted ?? null })
  const heard: SpeechEvent[] = []
  const stream = session.recogniser.open({ language: 'en' })
  stream.onEvent(event => heard.push(event))
  /** Collects the events of one answer; its error is one of them. */
  const ask = (): { readonly events: GenerationEvent[]; readonly over: Promise<unknown> } => {
    const events: GenerationEvent[] = []
    const over = (async () => {
      for await (const event of session.model.generate(REQUEST, new AbortController().signal)) events.push(event)
    })().then(
      () => null,
      (error: unknown) => error,
    )
    return { events, over }
  }
  const says = async (text: string) => {
    const format = NARROWBAND
    const { samples } = await voice.speak({ text, language: 'en', speed: 1, format })
    stream.write(samples, 0)
    stream.write(new Int16Array(msToSamples(1000, format)), samples.length)
  }
  return { service, time, session, heard, ask, says }
}

const spokenIn = (events: readonly GenerationEvent[]) =>
  events
    .flatMap(event => (event.type === 'speech' ? [event.delta] : []))
    .join('')
    .trim()

/** Advances the session's timers by `ms` once `isReady` holds. */
async function passAfter(time: VirtualTime, isReady: () => boolean, ms: Ms): Promise<void> {
  await expect.poll(isReady).toBe(true)
  time.advance(ms)
}

describe('OpenAI Realtime', () => {
  it('OpenAI Realtime gets mu-law in both directions, no turn detection, the voice and the expected words', async () => {
    const { service, ask } = await open({ voice: 'cedar' })
    service.script(...SAYS)
    expect(await ask().over).toBe(null)
    expect(service.settings[0]).toMatchObject({
      type: 'realtime',
      audio: {
        input: {
          format: { type: 'audio/pcmu' },
          turn_detection: null,
          transcription: { language: 'en', prompt: 'Hillside' },
        },
        output: { format: { type: 'audio/pcmu' }, voice: 'cedar', speed: 1 },
      },
    })
  })

  it('that breaks in the middle of an answer ends the session, after what it has said', async () => {
    const { service, session, heard, ask } = await open()
    service.script({ do: 'say', text: 'Good morning,' }, { do: 'wait', ms: 0 }, { do: 'break-off' })
    const { events, over } = ask()
    expect(await over).toMatchObject({ code: 'model_unreachable', retryable: true })
    expect(spokenIn(events)).toBe('Good morning,')
    expect(session.isOver).toBe(true)
    expect(heard).toMatchObject([{ type: 'error', error: { code: 'recogniser_failed', retryable: false } }])
  })

  it('that sends an error in the middle of an answer fails that answer, and the session goes on', async () => {
    const { service, session, ask } = await open()
    const error = { type: 'server_error', code: null, message: `${KEY} failed`, event_id: null }
    service.script({ do: 'say', text: 'Good' }, { do: 'fail', error })
    const failed = await ask().over
    expect(failed).toMatchObject({ code: 'model_failed', retryable: true })
    expect(String(failed)).not.toContain(KEY)
    expect(session.isOver).toBe(false)
    service.script(...SAYS)
    const { events, over } = ask()
    expect(await over).toBe(null)
    expect(spokenIn(events)).toBe('Good morning.')
  })

  it('that begins to speak late is waited for, and fails the answer after 10 s of silence', async () => {
    const { service, time, ask } = await open()
    service.script({ do: 'wait', ms: 50 }, ...SAYS)
    expect(await ask().over).toBe(null)
    service.script({ do: 'stall' })
    const { over } = ask()
    await passAfter(time, () => service.requests.length === 2, 10_000)
    expect(await over).toMatchObject({ code: 'model_failed' })
  })

  it('that never ends its answer is taken at its word when all output is complete', async () => {
    const { service, time, heard, ask, says } = await open()
    service.script({ do: 'say', text: 'Good morning.' }, { do: 'end' })
    const { events, over } = ask()
    await expect.poll(() => spokenIn(events)).toBe('Good morning.')
    // A transcript that was requested later shows that the end of the message has arrived.
    await says('one two three')
    await expect.poll(() => heard.some(({ type }) => type === 'final')).toBe(true)
    time.advance(1500)
    expect(await over).toBe(null)
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'stop' })
  })

  it('that sends an event beyond the size limit ends the session', async () => {
    const { service, session, ask } = await open()
    service.script({ do: 'write', text: `{"type":"response.done","pad":"${'x'.repeat(5_000_000)}"}` }, ...SAYS)
    expect(await ask().over).toMatchObject({ code: 'model_unreachable' })
    expect(session.isOver).toBe(true)
  })

  it('that sends what is no event is not disturbed by it', async () => {
    const { service, ask } = await open()
    const garbage = ['no json', '[]', '{"type":7}', '{"type":"response.output_item.added"}']
    service.script(...garbage.map(text => ({ do: 'write', text }) as const), ...SAYS)
    expect(await ask().over).toBe(null)
  })

  it('that gives no transcript within 5 s ends the session, so that the fallback hears the caller', async () => {
    const { service, session, time, heard, says } = await open({ transcriptMs: 3_600_000 })
    await says('one two three')
    await passAfter(time, () => service.events.includes('input_audio_buffer.commit'), 5000)
    expect(session.isOver).toBe(true)
    expect(heard.at(-1)).toMatchObject({ type: 'error', error: { code: 'recogniser_failed', retryable: false } })
  })

  it('that refuses the key is a failure that names neither the key nor a repetition', async () => {
    const { session, heard, ask } = await open({ key: 'sk-proj-this-is-wrong' })
    await expect.poll(() => session.isOver).toBe(true)
    const failed = await ask().over
    expect(failed).toMatchObject({ code: 'model_refused', retryable: false })
    expect(String(failed)).not.toContain('sk-proj-this-is-wrong')
    expect(heard).toMatchObject([{ type: 'error', error: { code: 'recogniser_refused', retryable: false } }])
  })
})
