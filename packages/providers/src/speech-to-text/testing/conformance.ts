import type { Ms } from '@parley/kernel'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SpeechEvent, SpeechStream, SpeechToText } from '../speech-to-text.ts'

/** A recogniser to be examined, and audio that it understands. */
interface RecogniserUnderTest {
  readonly recogniser: SpeechToText
  /** 8 kHz audio in which `text` is spoken. */
  speak(text: string, language: string): Promise<Int16Array>
  /** Ends what `speak` needs; the recogniser is closed by the suite. */
  close(): Promise<void>
  /** Languages that `speak` speaks: others are not tested. Default all languages of the recogniser. */
  readonly languages?: readonly string[]
}

const SAID: Readonly<Record<string, string>> = {
  en: 'the garden is behind the house',
  es: 'el jardín está detrás de la casa',
}
/** Calls do not begin at 0: an hour into one. */
const CLOCK = 3600 * 8000
const PACKET = 160

/** What every speech-to-text port must do. `make` gives a fresh recogniser. Languages that `speak` refuses are skipped by name. */
export async function speechToTextConformance(make: () => RecogniserUnderTest): Promise<void> {
  const probe = make()
  const { id } = probe.recogniser
  const { languages: spokenLanguages = probe.recogniser.languages } = probe
  const languages = probe.recogniser.languages.filter(language => spokenLanguages.includes(language))
  const obstacle = await probe.recogniser.readiness()
  const spoken = new Map<string, string | null>()
  for (const language of obstacle === null ? languages : []) {
    const problem = await probe.speak('one', language).then(
      () => null,
      (error: unknown) => String(error),
    )
    spoken.set(language, problem)
  }
  await probe.recogniser.close()
  await probe.close()
  const name = obstacle === null ? `the recogniser ${id}` : `the recogniser ${id} (skipped: ${obstacle})`
  describe.skipIf(obstacle !== null)(name, () => {
    for (const [language, problem] of spoken) understands(make, language, problem)
    answers(make, languages[0]!)
    refuses(make, languages[0]!)
  })
}

function understands(make: () => RecogniserUnderTest, language: string, problem: string | null): void {
  const skipped = problem === null ? '' : ` (skipped: ${problem})`
  it.skipIf(problem !== null)(
    `writes down what is said in "${language}", word by word, on the call's clock${skipped}`,
    async () => {
      const ear = listen(make, language)
      const audio = await ear.speak(SAID[language]!, language)
      ear.write(silence(4000))
      const from = ear.position
      ear.write(audio)
      const until = ear.position
      ear.write(silence(16_000))
      const final = await ear.event('final')
      expect(plain(final.text)).toBe(SAID[language])
      expect(final.words.map(({ text }) => text).join(' ')).toBe(final.text)
      let last = from - 800
      for (const { startSample, endSample } of final.words) {
        expect(startSample).toBeGreaterThanOrEqual(last)
        expect(endSample).toBeGreaterThan(startSample)
        last = startSample
      }
      expect(final.words.at(-1)!.endSample).toBeLessThanOrEqual(until + 800)
      const started = ear.events.findIndex(({ type }) => type === 'speech-started')
      const partials = ear.events.flatMap(event => (event.type === 'partial' ? [event] : []))
      expect(started).toBeLessThan(ear.events.findIndex(({ type }) => type === 'partial'))
      expect(partials.length).toBeGreaterThan(1)
      for (const { text, words } of partials) expect(words.map(word => word.text).join(' ')).toBe(text)
    },
  )
}

function answers(make: () => RecogniserUnderTest, language: string): void {
  it('answers finalize with one final result, also after silence', async () => {
    const ear = listen(make, language)
    ear.write(silence(4000))
    ear.stream.finalize()
    expect(await ear.event('final')).toEqual({ type: 'final', text: '', words: [], fromFinalize: true })
  })

  it('reports the sent audio: what was written and at most a little silence more', async () => {
    let sentMs = 0
    const ear = listen(make, language, audioMs => {
      sentMs += audioMs
    })
    ear.write(await ear.speak(SAID[language]!, language))
    ear.write(silence(4000))
    ear.stream.finalize()
    await ear.until(answersFinalize)
    ear.stream.close()
    const writtenMs = (ear.position - CLOCK) / 8
    expect(sentMs).toBeGreaterThanOrEqual(writtenMs)
    expect(sentMs).toBeLessThan(writtenMs + 1000)
  })

  it('answers finalize without waiting for silence', async () => {
    const ear = listen(make, language)
    const audio = await ear.speak(SAID[language]!, language)
    ear.write(audio)
    ear.write(silence(400))
    ear.stream.finalize()
    expect(plain(textOf(await ear.until(answersFinalize)))).toBe(SAID[language])
  })

  it('keeps word times correct across a gap, and drops audio of an earlier time', async () => {
    const ear = listen(make, language)
    const audio = await ear.speak(SAID[language]!, language)
    ear.write(audio)
    ear.position += 80_000
    const from = ear.position
    ear.write(audio)
    ear.stream.write(audio, from)
    ear.write(silence(400))
    ear.stream.finalize()
    const finals = await ear.until(answersFinalize)
    const said = finals.flatMap(event => (event.type === 'final' ? event.words : []))
    const once = SAID[language]!.split(' ').length
    expect(said.length).toBe(2 * once)
    expect(said[once]!.startSample).toBeGreaterThan(from - 800)
  })

  it('delivers no event once it is closed', async () => {
    const ear = listen(make, language)
    const audio = await ear.speak(SAID[language]!, language)
    ear.write(audio.subarray(0, audio.length >> 1))
    ear.stream.close()
    const heard = ear.events.length
    ear.write(audio.subarray(audio.length >> 1))
    ear.write(silence(16_000))
    ear.stream.finalize()
    ear.stream.close()
    await ear.recogniser.close()
    expect(ear.events.length).toBe(heard)
  })

  it('recognises several callers at once, each on a stream of its own', async () => {
    const ear = listen(make, language)
    const other = eavesdrop(ear.recogniser.open({ language }))
    const [said, otherSaid] = [SAID[language]!, SAID[language]!.split(' ').reverse().join(' ')]
    const [audio, otherAudio] = [await ear.speak(said, language), await ear.speak(otherSaid, language)]
    for (let at = 0; at < Math.max(audio.length, otherAudio.length); at += PACKET) {
      ear.write(audio.subarray(at, at + PACKET))
      other.write(otherAudio.subarray(at, at + PACKET))
    }
    for (const line of [ear, other]) {
      line.write(silence(400))
      line.stream.finalize()
    }
    expect(plain(textOf(await ear.until(answersFinalize)))).toBe(said)
    expect(plain(textOf(await other.until(answersFinalize)))).toBe(otherSaid)
  })
}

function refuses(make: () => RecogniserUnderTest, language: string): void {
  it('refuses a language that it does not support', async () => {
    const { recogniser } = listen(make, language)
    expect(() => recogniser.open({ language: 'tlh' })).toThrow(
      expect.objectContaining({ code: 'language_not_supported' }),
    )
  })

  it('can be closed repeatedly, and then opens no streams', async () => {
    const { recogniser } = listen(make, language)
    await Promise.all([recogniser.close(), recogniser.close()])
    expect(() => recogniser.open({ language })).toThrow(expect.objectContaining({ code: 'recogniser_closed' }))
  })
}

function listen(make: () => RecogniserUnderTest, language: string, onSent: (audioMs: Ms) => void = () => {}) {
  const examined = make()
  const { recogniser } = examined
  onTestFinished(async () => {
    await recogniser.close()
    await examined.close()
  })
  const speak = (text: string, tongue: string) => examined.speak(text, tongue)
  return Object.assign(eavesdrop(recogniser.open({ language, onSent })), { recogniser, speak })
}

/** A stream with everything it says; `write` goes on where the last one ended. */
function eavesdrop(stream: SpeechStream) {
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
  const line = {
    stream,
    events,
    position: CLOCK,
    until,
    write(audio: Int16Array) {
      for (let at = 0; at < audio.length; at += PACKET) {
        const packet = audio.subarray(at, at + PACKET)
        stream.write(packet, line.position)
        line.position += packet.length
      }
    },
    event: async <Type extends SpeechEvent['type']>(type: Type) => {
      const heard = await until(event => event.type === type)
      return heard.find(event => event.type === type) as Extract<SpeechEvent, { type: Type }>
    },
  }
  return line
}

function answersFinalize(event: SpeechEvent): boolean {
  return event.type === 'final' && event.fromFinalize
}

/** What the finals say; what was said may have become final before anybody asked. */
function textOf(events: readonly SpeechEvent[]): string {
  return events.flatMap(event => (event.type === 'final' && event.text !== '' ? [event.text] : [])).join(' ')
}

function silence(samples: number): Int16Array {
  return new Int16Array(samples)
}

/** Services differ in capitals and marks. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\s]/gu, '')
}
