import { type AudioFormat, NARROWBAND, SeededRandom, WIDEBAND } from '@parley/kernel'
import { resample } from '@parley/media'
import { codecByName } from '@parley/media/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { LocalFlite } from '../../local/io/flite-voice.ts'
import type { SpeechEvent } from '../../speech-to-text/speech-to-text.ts'
import { speechToTextConformance } from '../../speech-to-text/testing/conformance.ts'
import { textToSpeechConformance } from '../../text-to-speech/testing/conformance.ts'
import { overTelephoneLine, wordErrors } from '../testing/telephone-line.ts'
import { TonesRecogniser } from '../tones-recogniser.ts'
import { TonesVoice } from './tones-voice.ts'

const TEXT: Readonly<Record<string, string>> = {
  en: `The weather was fine on Monday, so we walked along the river until noon. My sister lives in a small house near the
station, with two cats and an old dog. Could you tell me whether the library is open on Sundays? We ordered 12 chairs, but
only 11 arrived. Yes, I think so. I would like to change my password, because I have forgotten it.`,
  es: `El lunes hizo buen tiempo y paseamos junto al río hasta el mediodía. Mi hermana vive en una casa pequeña cerca de la
estación, con dos gatos y un perro viejo. ¿Sabe usted si la biblioteca abre los domingos? Pedimos 12 sillas, pero llegaron 11.
Sí, creo que sí. Quisiera cambiar mi contraseña, porque la he olvidado.`,
}

// The tones of a word have the same length at any speed.
await textToSpeechConformance(() => new TonesVoice(), { maxShareAtDoubleSpeed: 0.9 })

const shared = new TonesVoice()
const spanish = await shared.readiness('es')
afterAll(() => shared.close())

await speechToTextConformance(() => ({
  recogniser: new TonesRecogniser(),
  speak: (text, language) => say(shared, text, language),
  close: () => Promise.resolve(),
}))

async function say(
  voice: { synthesize: TonesVoice['synthesize'] },
  text: string,
  language = 'en',
  words: string[] = [],
  format: AudioFormat = NARROWBAND,
): Promise<Int16Array> {
  const audio: number[] = []
  for await (const chunk of voice.synthesize({ text, language, format }, new AbortController().signal)) {
    audio.push(...chunk.samples)
    words.push(...chunk.words.map(word => word.text))
  }
  return Int16Array.from(audio)
}

/** Audio of 16 kHz after G.722, resampled for the recogniser. */
function overWidebandLine(audio: Int16Array): Int16Array {
  const g722 = codecByName('G722')
  const count = audio.length - (audio.length % 2)
  const bytes = new Uint8Array(count / 2)
  g722.createEncoder().encode(audio, 0, count, bytes, 0)
  const decoded = new Int16Array(count)
  g722.createDecoder().decode(bytes, 0, bytes.length, decoded, 0)
  return resample(decoded, WIDEBAND.sampleRateHz, NARROWBAND.sampleRateHz)
}

/** All events for `audio` in packets, with half a second of silence before it and a second after it. */
function recognise(audio: Int16Array, endpointingMs?: number): SpeechEvent[] {
  const stream = new TonesRecogniser().open({
    language: 'en',
    ...(endpointingMs === undefined ? {} : { endpointingMs }),
  })
  const events: SpeechEvent[] = []
  stream.onEvent(event => events.push(event))
  const heard = new Int16Array(audio.length + 12_000)
  heard.set(audio, 4000)
  for (let at = 0; at < heard.length; at += 160) stream.write(heard.subarray(at, at + 160), at)
  stream.close()
  return events
}

const wordsOf = (events: readonly SpeechEvent[]) =>
  events.flatMap(event => (event.type === 'final' ? event.words.map(({ text }) => text) : []))

describe.each([
  ['en', '', null],
  ['es', spanish === null ? '' : ` (skipped: ${spanish})`, spanish],
] as const)('simulated speech over a telephone line, in "%s"%s', (language, _skipped, obstacle) => {
  it.skipIf(obstacle !== null).each([
    ['G.711 only', {}, 0],
    ['2 % of packets lost', { loss: 0.02 }, 0.05],
    ['noise 20 dB below the speech', { noiseBelowDb: 20 }, 0.05],
    ['2 % of packets lost and noise 20 dB below', { loss: 0.02, noiseBelowDb: 20 }, 0.05],
  ])('simulated speech is recognised with %s', async (_name, conditions, maxErrorRate) => {
    const spoken: string[] = []
    const audio = await say(shared, TEXT[language]!, language, spoken)
    expect(spoken).toEqual(TEXT[language]!.split(/\s+/))
    const recognised = wordsOf(recognise(overTelephoneLine(audio, { ...conditions, random: new SeededRandom(1) })))
    expect(wordErrors(spoken, recognised) / spoken.length).toBeLessThanOrEqual(maxErrorRate)
  })

  it.skipIf(obstacle !== null)('is recognised with G.722, spoken at 16 kHz', async () => {
    const spoken: string[] = []
    const audio = await say(shared, TEXT[language]!, language, spoken, WIDEBAND)
    expect(wordsOf(recognise(overWidebandLine(audio)))).toEqual(spoken)
  })
})

describe('the simulated recogniser', () => {
  it('the simulated recogniser loses the words whose audio is damaged, and only those', async () => {
    const audio = await say(shared, 'The garden is behind the house.')
    const [final] = recognise(audio).filter(event => event.type === 'final')
    const behind = final!.words[3]!
    expect(behind.text).toBe('behind')
    audio.fill(0, behind.startSample - 4000, behind.endSample - 4000)
    expect(wordsOf(recognise(audio))).toEqual(['The', 'garden', 'is', 'the', 'house.'])
  })

  it('the simulated recogniser recognises a word of several frames whole or not at all', async () => {
    const long = 'antidisestablishmentarianism'
    const audio = await say(shared, `The word ${long} is long.`)
    const [final] = recognise(audio).filter(event => event.type === 'final')
    expect(final!.text).toBe(`The word ${long} is long.`)
    const { startSample, endSample } = final!.words[2]!
    for (const half of [0, 0.5]) {
      const damaged = audio.slice()
      const from = startSample - 4000 + half * (endSample - startSample)
      damaged.fill(0, from, from + 0.4 * (endSample - startSample))
      expect(wordsOf(recognise(damaged))).toEqual(['The', 'word', 'is', 'long.'])
    }
  })

  it('the simulated recogniser reports speech without coded words as unintelligible', async () => {
    const person = new LocalFlite()
    const audio = await say(person, 'Is anybody there?')
    await person.close()
    const events = recognise(audio)
    expect(events.map(({ type }) => type)).toEqual(['speech-started', 'unintelligible'])
    for (const event of events) {
      if (event.type !== 'unintelligible') continue
      expect(events[0]).toEqual({ type: 'speech-started', atSample: event.startSample })
      expect((event.endSample - event.startSample) / audio.length).toBeGreaterThan(0.5)
    }
  })

  it('the simulated recogniser reports nothing for silence and for noise', () => {
    const random = new SeededRandom(2)
    const noise = Int16Array.from(random.bytes(160_000), byte => 8 * (byte - 128))
    expect(recognise(noise)).toEqual([])
    expect(recognise(new Int16Array(16_000))).toEqual([])
  })

  it('finalises words after the requested silence', async () => {
    const audio = await say(shared, 'Yes. No.')
    const finals = (ms: number) => recognise(audio, ms).flatMap(event => (event.type === 'final' ? [event.text] : []))
    expect(finals(200)).toEqual(['Yes.', 'No.'])
    expect(finals(800)).toEqual(['Yes. No.'])
  })
})

describe('the simulated voice', () => {
  it('synthesises a sentence once for concurrent and later requests, and returns a copy to each', async () => {
    const synthesised: string[] = []
    const flite = new LocalFlite()
    const counting = {
      id: flite.id,
      languages: flite.languages,
      readiness: () => flite.readiness(),
      close: () => flite.close(),
      synthesize(...request: Parameters<LocalFlite['synthesize']>) {
        synthesised.push(request[0].text)
        return flite.synthesize(...request)
      },
    }
    const voice = new TonesVoice({ speakers: { en: { voice: counting, voices: [] } } })
    const all = await Promise.all(Array.from({ length: 300 }, () => say(voice, 'Good morning. Good night.')))
    for (const audio of all) expect(audio).toEqual(all[0])
    all[0]!.fill(0)
    expect(await say(voice, 'Good night. Good morning.')).toHaveLength(all[0]!.length)
    expect(synthesised.sort()).toEqual(['Good morning.', 'Good night.'])
    await voice.close()
  })

  it('the simulated voice reports when each word begins', async () => {
    const starts: number[] = []
    const request = { text: 'One two three. Four five.', language: 'en' }
    for await (const { words } of shared.synthesize(request, new AbortController().signal)) {
      starts.push(...words.map(({ startMs }) => startMs))
    }
    expect(starts).toHaveLength(5)
    for (let i = 1; i < starts.length; i++) expect(starts[i]! - starts[i - 1]!).toBeGreaterThan(100)
  })
})
