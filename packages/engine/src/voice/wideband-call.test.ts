import { type AudioFormat, NARROWBAND, VirtualTime, WIDEBAND } from '@parley/kernel'
import type { CodecName } from '@parley/media'
import type { SpeechChunk, SpeechToText, TextToSpeech } from '@parley/providers'
import type { SpeechRequest } from '@parley/providers/testing'
import { describe, expect, it } from 'vitest'
import { AudioHarness, lastAudible } from '../testing/audio-harness.ts'
import { draftOf } from '../testing/drafts.ts'
import { CallClock } from './call-clock.ts'
import { SpeechInput } from './speech-input.ts'
import { Voices } from './voices.ts'

interface Opened {
  readonly format: AudioFormat | undefined
  readonly written: { readonly at: number; readonly count: number }[]
}

/** Runs a call with audio in the format `call` for a second, with a recogniser that accepts `formats`. */
function heardBy(formats: readonly AudioFormat[] | undefined, call: AudioFormat): Opened {
  const time = new VirtualTime()
  const opened: { format: AudioFormat | undefined; written: { at: number; count: number }[] } = {
    format: undefined,
    written: [],
  }
  let position = 0
  const recogniser: SpeechToText = {
    id: 'test/formats',
    languages: ['en'],
    ...(formats && { formats }),
    readiness: async () => null,
    open: options => {
      opened.format = options.format
      return {
        write: (samples, at) => void opened.written.push({ at, count: samples.length }),
        finalize: () => {},
        onEvent: () => {},
        close: () => {},
      }
    },
    close: async () => {},
  }
  const input = new SpeechInput({
    leg: {
      format: call,
      readHeard: into => {
        const count = Math.min(into.length, (time.now() * call.sampleRateHz) / 1000 - position)
        position += count
        return count
      },
      heardPosition: () => position,
      detectVoice: () => {},
      nextVoiceEdge: () => null,
    },
    recognisers: [recogniser],
    speechBand: undefined,
    language: 'en',
    keywords: [],
    clock: new CallClock(call),
    time,
    onHeard: () => {},
    onFailure: () => {},
  })
  for (let ms = 0; ms < 1000; ms += 20) {
    time.advance(20)
    input.drain()
  }
  return opened
}

const total = ({ written }: Opened) => written.reduce((sum, { count }) => sum + count, 0)

describe('a call with 16 kHz audio', () => {
  it('a call with 16 kHz audio is sent at 16 kHz to a recogniser that accepts it', () => {
    const opened = heardBy([NARROWBAND, WIDEBAND], WIDEBAND)
    expect(opened.format).toEqual(WIDEBAND)
    expect(total(opened)).toBe(16_000)
  })

  it('a call with 16 kHz audio is resampled to 8 kHz without gaps for a recogniser that declares no formats', () => {
    const opened = heardBy(undefined, WIDEBAND)
    expect(opened.format).toEqual(NARROWBAND)
    expect(total(opened)).toBe(8000)
    for (const [i, { at, count }] of opened.written.entries()) {
      expect(opened.written[i + 1]?.at ?? at + count).toBe(at + count)
    }
  })
})

describe('a call with 8 kHz audio', () => {
  it('a call with 8 kHz audio is sent at 8 kHz to a recogniser that also accepts more', () => {
    const opened = heardBy([WIDEBAND, NARROWBAND], NARROWBAND)
    expect(opened.format).toEqual(NARROWBAND)
    expect(total(opened)).toBe(8000)
  })
})

/** A voice that whistles at 6 kHz (at 1 kHz in 8 kHz audio), 300 ms for each word. It fails before word `failsAt` of each text. */
function whistling(formats: readonly AudioFormat[] | undefined, failsAt = Number.POSITIVE_INFINITY) {
  const requested: (AudioFormat | undefined)[] = []
  const voice: TextToSpeech = {
    id: 'test/whistle',
    languages: ['en'],
    ...(formats && { formats }),
    readiness: async () => null,
    async *synthesize({ text, format = NARROWBAND }: SpeechRequest): AsyncGenerator<SpeechChunk> {
      requested.push(format)
      const hz = format.sampleRateHz > 8000 ? 6000 : 1000
      for (const [i, word] of text.split(' ').entries()) {
        if (i === failsAt) throw new Error('broke')
        yield { samples: whistle(hz, 300, format), words: [{ text: word, startMs: 300 * i }] }
      }
    },
    close: async () => {},
  }
  return { choice: { voice, language: 'en', voiceId: null }, requested }
}

function whistle(hz: number, ms: number, { sampleRateHz }: AudioFormat): Int16Array {
  return Int16Array.from({ length: (ms * sampleRateHz) / 1000 }, (_, i) =>
    Math.round(8000 * Math.sin((2 * Math.PI * hz * i) / sampleRateHz)),
  )
}

/** RMS of the part of `audio` at `hz`. */
function levelAt(audio: Int16Array, hz: number, { sampleRateHz }: AudioFormat): number {
  let [real, imaginary] = [0, 0]
  for (const [i, sample] of audio.entries()) {
    real += sample * Math.cos((2 * Math.PI * hz * i) / sampleRateHz)
    imaginary += sample * Math.sin((2 * Math.PI * hz * i) / sampleRateHz)
  }
  return (Math.hypot(real, imaginary) / audio.length) * Math.SQRT2
}

/** The audio and the words of "one two three four" from these voices, in order of preference, on a call of this format. */
async function rendered(voices: readonly ReturnType<typeof whistling>[], format: AudioFormat) {
  const choices = voices.map(({ choice }) => choice)
  const all = new Voices(choices, format, new VirtualTime(), () => {})
  const audio: number[] = []
  const words: string[] = []
  for await (const chunk of all.render('one two three four', 1, new AbortController().signal)) {
    audio.push(...chunk.samples)
    words.push(...chunk.words.map(({ text, startMs }) => `${text}@${Math.round(startMs / 50) * 50}`))
  }
  return { audio: Int16Array.from(audio), words }
}

describe('the voice of a call with 16 kHz audio', () => {
  it('the voice of a call with 16 kHz audio is asked for 16 kHz if it declares it, and for 8 kHz on a call with 8 kHz audio', async () => {
    const voice = whistling([NARROWBAND, WIDEBAND])
    const wide = await rendered([voice], WIDEBAND)
    const narrow = await rendered([voice], NARROWBAND)
    expect(voice.requested).toEqual([WIDEBAND, NARROWBAND])
    expect([wide.audio.length, narrow.audio.length]).toEqual([19_200, 9600])
    expect(levelAt(wide.audio, 6000, WIDEBAND)).toBeGreaterThan(0.95 * (8000 / Math.SQRT2))
  })

  it('the voice of a call with 16 kHz audio is resampled if it declares no formats, with words at the same times', async () => {
    const { audio, words } = await rendered([whistling(undefined)], WIDEBAND)
    expect(audio.length).toBe(19_200)
    expect(levelAt(audio, 1000, WIDEBAND)).toBeGreaterThan(0.95 * (8000 / Math.SQRT2))
    expect(words).toEqual(['one@0', 'two@300', 'three@600', 'four@900'])
  })

  it('the voice of a call with 16 kHz audio is resampled down if it declares only more than the call has', async () => {
    const { audio } = await rendered([whistling([{ sampleRateHz: 24_000, channels: 1 }])], WIDEBAND)
    expect(audio.length).toBe(19_200)
  })

  it('the voice of a call with 16 kHz audio may be replaced within a sentence by a voice of 8 kHz', async () => {
    const { audio, words } = await rendered([whistling([NARROWBAND, WIDEBAND], 2), whistling(undefined)], WIDEBAND)
    // The next voice repeats the interrupted word.
    expect(words).toEqual(['one@0', 'two@300', 'three@900', 'four@1200'])
    expect(Math.abs(audio.length - 16 * 1500)).toBeLessThan(16 * 10)
  })
})

/** A call over `codec` on which the agent whistles a greeting of ten words; the caller speaks after 1.5 s of it if `interrupts`. */
async function greeted(codec: CodecName, interrupts = false) {
  const { choice } = whistling([NARROWBAND, WIDEBAND])
  const greeting = 'one two three four five six seven eight nine ten'
  const draft = draftOf([{ id: 'ask', type: 'conversation', instruction: { type: 'static_text', text: greeting } }])
  const call = await AudioHarness.open({ draft, codecs: [codec], agent: { voice: choice.voice } })
  await call.until(() => lastAudible(call.heard()) > 0, 3000, 'greeted')
  await call.pass(1500)
  if (interrupts) call.says('stop please wait a moment')
  await call.until(() => call.timeline('utterance').some(({ role }) => role === 'agent'), 8000, 'spoken')
  return call
}

describe('a call over G.722', () => {
  it("a call over G.722 carries what is above the telephone band from the agent's voice to the caller and to the recording", async () => {
    const call = await greeted('G722')
    const heard = call.heard()
    const from = heard.findIndex(sample => Math.abs(sample) > 3000) + 1600
    const sent = call.line.b.captured().right
    const sentFrom = sent.findIndex(sample => Math.abs(sample) > 3000) + 1600
    for (const audio of [heard.subarray(from, from + 16_000), sent.subarray(sentFrom, sentFrom + 16_000)])
      expect(levelAt(audio, 6000, WIDEBAND)).toBeGreaterThan(0.85 * (8000 / Math.SQRT2))
    const [greeting] = call.timeline('utterance')
    expect(greeting!.end_ms! - greeting!.start_ms!).toBe(3000)
  })

  it('a call over G.722 has the same heard words in the transcript after an interruption as a call over PCMU', async () => {
    const [wide, narrow] = [await greeted('G722', true), await greeted('PCMU', true)]
    const heardIn = (call: AudioHarness) => call.timeline('utterance').find(({ role }) => role === 'agent')
    expect(heardIn(wide)).toMatchObject({ interrupted: true })
    expect(heardIn(wide)!.text).toBe(heardIn(narrow)!.text)
  })
})
