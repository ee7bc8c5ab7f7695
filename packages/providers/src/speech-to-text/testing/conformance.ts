import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { resample } from '@parley/media'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SpeechEvent, SpeechStream, SpeechToText } from '../speech-to-text.ts'

/** A recogniser to be tested, and audio that it understands. */
interface RecogniserUnderTest {
  readonly recogniser: SpeechToText
  /** 8 kHz audio in which `text` is spoken. */
  speak(text: string, language: string): Promise<Int16Array>
  /** Releases what `speak` needs; the suite closes the recogniser. */
  close(): Promise<void>
  /** Languages that `speak` speaks; others are not tested. Default all languages of the recogniser. */
  readonly languages?: readonly string[]
  /** Partial results for a sentence that is written at once; default 2. */
  readonly minPartials?: number
}

/** What all tests of one format share. */
interface FormatUnderTest {
  readonly make: () => RecogniserUnderTest
  readonly format: AudioFormat
}

const SENTENCES: Readonly<Record<string, string>> = {
  en: 'the garden is behind the house',
  es: 'el jardín está detrás de la casa',
}
/** Calls do not begin at position 0: streams of this suite begin an hour into one. */
const CLOCK_MS: Ms = 3_600_000
const PACKET_MS: Ms = 20
/** Word times may be wrong by this much. */
const TOLERANCE_MS: Ms = 100

/**
 * What every implementation of `SpeechToText` must do, in each audio format that it accepts. `make` returns a fresh
 * recogniser. Languages that `speak` rejects are skipped, with the reason in the test name.
 */
export async function speechToTextConformance(make: () => RecogniserUnderTest): Promise<void> {
  const probe = make()
  const { id, formats = [NARROWBAND] } = probe.recogniser
  const { languages: spokenLanguages = probe.recogniser.languages } = probe
  const languages = probe.recogniser.languages.filter(language => spokenLanguages.includes(language))
  const obstacle = await probe.recogniser.readiness()
  const problems = new Map<string, string | null>()
  for (const language of obstacle === null ? languages : []) {
    const problem = await probe.speak('one', language).then(
      () => null,
      (error: unknown) => String(error),
    )
    problems.set(language, problem)
  }
  await probe.recogniser.close()
  await probe.close()
  const skipped = obstacle === null ? '' : ` (skipped: ${obstacle})`
  for (const format of formats) {
    const name = `the recogniser ${id} at ${format.sampleRateHz / 1000} kHz${skipped}`
    describe.skipIf(obstacle !== null)(name, () => {
      for (const [language, problem] of problems) transcribes({ make, format }, language, problem)
      answersFinalizeRequests({ make, format }, languages[0]!)
      keepsStreamsApart({ make, format }, languages[0]!)
      refuses({ make, format }, languages[0]!)
    })
  }
}

function transcribes(tested: FormatUnderTest, language: string, problem: string | null): void {
  const skipped = problem === null ? '' : ` (skipped: ${problem})`
  it.skipIf(problem !== null)(
    `transcribes "${language}" word by word, with times on the call's clock${skipped}`,
    async () => {
      const session = openSession(tested, language)
      const tolerance = msToSamples(TOLERANCE_MS, tested.format)
      const audio = await session.speak(SENTENCES[language]!, language)
      session.silence(500)
      const from = session.position
      session.write(audio)
      const until = session.position
      session.silence(2000)
      const final = await session.event('final')
      expect(plain(final.text)).toBe(SENTENCES[language])
      expect(final.words.map(({ text }) => text).join(' ')).toBe(final.text)
      let last = from - tolerance
      for (const { startSample, endSample } of final.words) {
        expect(startSample).toBeGreaterThanOrEqual(last)
        expect(endSample).toBeGreaterThan(startSample)
        last = startSample
      }
      expect(final.words.at(-1)!.endSample).toBeLessThanOrEqual(until + tolerance)
      const started = session.events.findIndex(({ type }) => type === 'speech-started')
      const partials = session.events.flatMap(event => (event.type === 'partial' ? [event] : []))
      expect(started).toBeGreaterThanOrEqual(0)
      expect(started).toBeLessThan(session.events.findIndex(({ type }) => type === 'partial' || type === 'final'))
      expect(partials.length).toBeGreaterThanOrEqual(session.minPartials)
      for (const { text, words } of partials) expect(words.map(word => word.text).join(' ')).toBe(text)
    },
  )
}

function answersFinalizeRequests(tested: FormatUnderTest, language: string): void {
  it('answers finalize with one empty final result after silence', async () => {
    const session = openSession(tested, language)
    session.silence(500)
    session.stream.finalize()
    expect(await session.event('final')).toEqual({ type: 'final', text: '', words: [], fromFinalize: true })
  })

  it('reports the sent audio: what was written and at most a second of silence more', async () => {
    let sentMs = 0
    const session = openSession(tested, language, audioMs => {
      sentMs += audioMs
    })
    session.write(await session.speak(SENTENCES[language]!, language))
    session.silence(500)
    session.stream.finalize()
    await session.until(answersFinalize)
    session.stream.close()
    const writtenMs = samplesToMs(session.position, tested.format) - CLOCK_MS
    expect(sentMs).toBeGreaterThanOrEqual(writtenMs)
    expect(sentMs).toBeLessThan(writtenMs + 1000)
  })

  it('answers finalize without waiting for silence', async () => {
    const session = openSession(tested, language)
    session.write(await session.speak(SENTENCES[language]!, language))
    session.silence(50)
    session.stream.finalize()
    expect(plain(textOf(await session.until(answersFinalize)))).toBe(SENTENCES[language])
  })

  it('keeps word times correct across a gap, and drops audio of an earlier time', async () => {
    const session = openSession(tested, language)
    const audio = await session.speak(SENTENCES[language]!, language)
    session.write(audio)
    session.position += msToSamples(10_000, tested.format)
    const from = session.position
    session.write(audio)
    session.stream.write(audio, from)
    session.silence(50)
    const earliest = from - msToSamples(TOLERANCE_MS, tested.format)
    // A finalize request is answered within a time limit, which the work on ten seconds of silence must not use up.
    if (session.minPartials > 0) await session.until(event => hasWordsAfter(event, earliest))
    session.stream.finalize()
    const events = await session.until(answersFinalize)
    const words = events.flatMap(event => (event.type === 'final' ? event.words : []))
    const once = SENTENCES[language]!.split(' ').length
    expect(words.length).toBe(2 * once)
    expect(words[once]!.startSample).toBeGreaterThan(earliest)
  })
}

function keepsStreamsApart(tested: FormatUnderTest, language: string): void {
  it('delivers no event after a stream is closed', async () => {
    const session = openSession(tested, language)
    const audio = await session.speak(SENTENCES[language]!, language)
    session.write(audio.subarray(0, audio.length >> 1))
    session.stream.close()
    const count = session.events.length
    session.write(audio.subarray(audio.length >> 1))
    session.silence(2000)
    session.stream.finalize()
    session.stream.close()
    await session.recogniser.close()
    expect(session.events.length).toBe(count)
  })

  it('recognises several callers at once, each on its own stream', async () => {
    const session = openSession(tested, language)
    const other = recorded(session.recogniser.open({ language, format: tested.format }), tested.format)
    const sentence = SENTENCES[language]!
    const reversed = sentence.split(' ').reverse().join(' ')
    const [audio, otherAudio] = [await session.speak(sentence, language), await session.speak(reversed, language)]
    const packet = msToSamples(PACKET_MS, tested.format)
    for (let at = 0; at < Math.max(audio.length, otherAudio.length); at += packet) {
      session.write(audio.subarray(at, at + packet))
      other.write(otherAudio.subarray(at, at + packet))
    }
    for (const { silence, stream } of [session, other]) {
      silence(50)
      stream.finalize()
    }
    expect(plain(textOf(await session.until(answersFinalize)))).toBe(sentence)
    expect(plain(textOf(await other.until(answersFinalize)))).toBe(reversed)
  })
}

function refuses(tested: FormatUnderTest, language: string): void {
  it('refuses a language that it does not support', async () => {
    const { recogniser } = openSession(tested, language)
    expect(() => recogniser.open({ language: 'tlh' })).toThrow(
      expect.objectContaining({ code: 'language_not_supported' }),
    )
  })

  it('refuses an audio format that it does not declare', async () => {
    const { recogniser } = openSession(tested, language)
    for (const format of [{ sampleRateHz: 48_000, channels: 1 } as const, { ...tested.format, channels: 2 } as const])
      expect(() => recogniser.open({ language, format })).toThrow(
        expect.objectContaining({ code: 'format_not_supported' }),
      )
  })

  it('can be closed repeatedly, and opens no streams after that', async () => {
    const { recogniser } = openSession(tested, language)
    await Promise.all([recogniser.close(), recogniser.close()])
    expect(() => recogniser.open({ language })).toThrow(expect.objectContaining({ code: 'recogniser_closed' }))
  })
}

/** A recogniser with one open stream; both are closed after the test. */
function openSession({ make, format }: FormatUnderTest, language: string, onSent: (audioMs: Ms) => void = () => {}) {
  const tested = make()
  const { recogniser } = tested
  onTestFinished(async () => {
    await recogniser.close()
    await tested.close()
  })
  const speak = async (text: string, spokenLanguage: string) => {
    const audio = await tested.speak(text, spokenLanguage)
    return resample(audio, NARROWBAND.sampleRateHz, format.sampleRateHz)
  }
  const { minPartials = 2 } = tested
  return Object.assign(recorded(recogniser.open({ language, format, onSent }), format), {
    recogniser,
    speak,
    minPartials,
  })
}

/** A stream with all its events. `write` continues where the last one ended. */
function recorded(stream: SpeechStream, format: AudioFormat) {
  const events: SpeechEvent[] = []
  let wake = () => {}
  stream.onEvent(event => {
    events.push(event)
    wake()
  })
  const until = async (wanted: (event: SpeechEvent) => boolean) => {
    while (!events.some(wanted)) {
      const failed = events.find(event => event.type === 'error' && !event.error.retryable)
      if (failed?.type === 'error') throw failed.error
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
    return events
  }
  const packet = msToSamples(PACKET_MS, format)
  const session = {
    stream,
    events,
    position: msToSamples(CLOCK_MS, format),
    until,
    write(audio: Int16Array) {
      for (let at = 0; at < audio.length; at += packet) {
        const samples = audio.subarray(at, at + packet)
        stream.write(samples, session.position)
        session.position += samples.length
      }
    },
    silence: (ms: Ms) => session.write(new Int16Array(msToSamples(ms, format))),
    event: async <Type extends SpeechEvent['type']>(type: Type) => {
      const received = await until(event => event.type === type)
      return received.find(event => event.type === type) as Extract<SpeechEvent, { type: Type }>
    },
  }
  return session
}

function answersFinalize(event: SpeechEvent): boolean {
  return event.type === 'final' && event.fromFinalize
}

function hasWordsAfter(event: SpeechEvent, position: Samples): boolean {
  return (event.type === 'partial' || event.type === 'final') && (event.words.at(-1)?.endSample ?? 0) > position
}

/** The text of all final results: words may become final before a finalize request. */
function textOf(events: readonly SpeechEvent[]): string {
  return events.flatMap(event => (event.type === 'final' && event.text !== '' ? [event.text] : [])).join(' ')
}

/** Lower case and without punctuation, in which services differ. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\s]/gu, '')
}
