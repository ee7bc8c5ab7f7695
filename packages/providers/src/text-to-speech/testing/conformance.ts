import { type AudioFormat, msToSamples, NARROWBAND } from '@parley/kernel'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { MAX_TEXT_CODE_POINTS } from '../request.ts'
import type { SpeechRequest, TextToSpeech } from '../text-to-speech.ts'

const SPEECH: Readonly<Record<string, string>> = {
  en: 'Hello, this is Parley. Please enter the four digits of your code.',
  es: 'Hola, le habla Parley. Marque los cuatro dígitos de su código, por favor.',
}

/**
 * What every implementation of `TextToSpeech` must do. `make` returns a fresh voice, which the suite closes. The tests of
 * a voice that is not ready are skipped, with the reason in their names. Await it at the top of a test file.
 * `maxShareAtDoubleSpeed`: longest utterance at double speed as a share of its normal length; default 0.7.
 */
export async function textToSpeechConformance(
  make: () => TextToSpeech,
  options: { readonly maxShareAtDoubleSpeed?: number } = {},
): Promise<void> {
  const probe = make()
  const { id, languages, formats = [NARROWBAND] } = probe
  const obstacle = await probe.readiness()
  const obstacles = new Map<string, string | null>()
  for (const language of languages) obstacles.set(language, await probe.readiness(language))
  await probe.close()
  const name = obstacle === null ? `the voice ${id}` : `the voice ${id} (skipped: ${obstacle})`
  describe.skipIf(obstacle !== null)(name, () => {
    let made: TextToSpeech | null = null
    // One voice for all tests that do not stop it: to start its threads takes longer than to speak.
    const shared = () => {
      made ??= make()
      return made
    }
    afterAll(() => made?.close())
    for (const format of formats) speaksIn(shared, format, obstacles)
    speaks(shared, obstacles, options.maxShareAtDoubleSpeed ?? 0.7)
    stops(make, languages[0]!)
    refuses(shared, languages[0]!)
  })
}

function open(make: () => TextToSpeech): TextToSpeech {
  const voice = make()
  onTestFinished(() => voice.close())
  return voice
}

/** All audio of an utterance; also checks the length of its chunks. */
async function synthesise(voice: TextToSpeech, request: SpeechRequest, signal = new AbortController().signal) {
  const chunks: Int16Array[] = []
  const shortest = msToSamples(10, request.format ?? NARROWBAND)
  for await (const chunk of voice.synthesize(request, signal)) chunks.push(chunk.samples)
  for (const chunk of chunks.slice(0, -1)) expect(chunk.length).toBeGreaterThanOrEqual(shortest)
  const audio = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    audio.set(chunk, at)
    at += chunk.length
  }
  return audio
}

function speaksIn(
  shared: () => TextToSpeech,
  format: AudioFormat,
  obstacles: ReadonlyMap<string, string | null>,
): void {
  for (const [language, obstacle] of obstacles) {
    const skipped = obstacle === null ? '' : ` (skipped: ${obstacle})`
    it.skipIf(obstacle !== null)(
      `speaks "${language}" at ${format.sampleRateHz} Hz: audible, not clipped, about as long as human speech${skipped}`,
      async () => {
        const text = SPEECH[language]
        if (text === undefined) throw new Error(`the suite has no text in "${language}"; add one to SPEECH`)
        const audio = await synthesise(shared(), { text, language, format })
        const seconds = audio.length / format.sampleRateHz
        expect(seconds).toBeGreaterThan(text.length * 0.035)
        expect(seconds).toBeLessThan(text.length * 0.15)
        const rms = Math.sqrt(audio.reduce((sum, sample) => sum + sample * sample, 0) / audio.length)
        expect(rms).toBeGreaterThan(500)
        const clipped = audio.filter(sample => Math.abs(sample) >= 32_767).length
        expect(clipped / audio.length).toBeLessThan(0.001)
      },
    )
  }
}

function speaks(
  shared: () => TextToSpeech,
  obstacles: ReadonlyMap<string, string | null>,
  maxShareAtDoubleSpeed: number,
): void {
  const languages = [...obstacles.keys()]

  it('speaks faster when the request doubles the speed', async () => {
    const voice = shared()
    const request = { text: SPEECH[languages[0]!]!, language: languages[0]! }
    const [normal, fast] = [await synthesise(voice, request), await synthesise(voice, { ...request, speed: 2 })]
    expect(fast.length / normal.length).toBeGreaterThan(0.35)
    expect(fast.length / normal.length).toBeLessThan(maxShareAtDoubleSpeed)
  })

  it('delivers words, if any, in order and with the audio in which they begin', async () => {
    const request = { text: SPEECH[languages[0]!]!, language: languages[0]! }
    const words: string[] = []
    let [endMs, lastMs] = [0, 0]
    for await (const chunk of shared().synthesize(request, new AbortController().signal)) {
      endMs += chunk.samples.length / 8
      for (const { text, startMs } of chunk.words) {
        expect(startMs).toBeGreaterThanOrEqual(lastMs)
        expect(startMs).toBeLessThan(endMs)
        lastMs = startMs
        words.push(text)
      }
    }
    if (words.length > 0) expect(words).toEqual(request.text.split(' '))
  })

  it('reports all characters of each utterance as sent', async () => {
    const voice = shared()
    const sent: number[] = []
    const request = {
      text: SPEECH[languages[0]!]!,
      language: languages[0]!,
      onSent: (count: number) => sent.push(count),
    }
    for (const times of [1, 2]) {
      await synthesise(voice, request)
      expect(sum(sent)).toBe(times * [...request.text].length)
    }
  })

  it('concurrent utterances do not mix', async () => {
    const voice = shared()
    const requests = ['One.', 'Two, three, four, five.'].map(text => ({ text, language: languages[0]! }))
    const alone = [await synthesise(voice, requests[0]!), await synthesise(voice, requests[1]!)]
    expect(await Promise.all(requests.map(request => synthesise(voice, request)))).toEqual(alone)
  })
}

function stops(make: () => TextToSpeech, language: string): void {
  const long = { text: `${SPEECH[language]} `.repeat(50), language }

  it('an aborted utterance ends at once without an error', async () => {
    const controller = new AbortController()
    const speech = open(make).synthesize(long, controller.signal)[Symbol.asyncIterator]()
    expect((await speech.next()).done).toBe(false)
    const next = speech.next()
    controller.abort()
    expect((await next).done ?? false).toBe(true)
    expect((await speech.next()).done).toBe(true)
  })

  it('an utterance aborted before it began yields nothing and sends nothing', async () => {
    const sent: number[] = []
    const request = { ...long, onSent: (count: number) => sent.push(count) }
    expect((await synthesise(open(make), request, AbortSignal.abort())).length).toBe(0)
    expect(sent).toEqual([])
  })

  it('reports the sent characters of aborted utterances too', async () => {
    const controller = new AbortController()
    const sent: number[] = []
    const request = { ...long, onSent: (count: number) => sent.push(count) }
    for await (const _chunk of open(make).synthesize(request, controller.signal)) controller.abort()
    expect(sum(sent)).toBe([...long.text].length)
  })

  it('an aborted utterance leaves nothing in the next one', async () => {
    const voice = open(make)
    const request = { text: 'One.', language }
    const alone = await synthesise(voice, request)
    for (let i = 0; i < 2; i++) {
      const controller = new AbortController()
      for await (const _chunk of voice.synthesize({ text: SPEECH[language]!, language }, controller.signal))
        controller.abort()
      expect(await synthesise(voice, request)).toEqual(alone)
    }
  })

  it('aborting one utterance leaves others running', async () => {
    const voice = open(make)
    const controller = new AbortController()
    const stopped = synthesise(voice, long, controller.signal)
    const other = synthesise(voice, { text: 'One.', language })
    controller.abort()
    await stopped
    expect((await other).length).toBeGreaterThan(0)
  })

  it('can be closed repeatedly, and refuses utterances after that', async () => {
    const voice = open(make)
    await synthesise(voice, { text: 'One.', language })
    await Promise.all([voice.close(), voice.close()])
    await voice.close()
    await expect(synthesise(voice, { text: 'One.', language })).rejects.toMatchObject({ code: 'voice_closed' })
  })
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}

function refuses(shared: () => TextToSpeech, language: string): void {
  it.each<[string, Partial<SpeechRequest>, string]>([
    ['an empty text', { text: '' }, 'text_empty'],
    ['a blank text', { text: ' \n\t ' }, 'text_empty'],
    ['a text beyond the limit', { text: 'é'.repeat(MAX_TEXT_CODE_POINTS + 1) }, 'text_too_long'],
    ['a text far beyond the limit', { text: 'a'.repeat(1_000_000) }, 'text_too_long'],
    ['an unsupported language', { language: 'tlh' }, 'language_not_supported'],
    ['an unknown voice', { voice: '../../etc/passwd' }, 'voice_unknown'],
    ['a speed beyond 2', { speed: 2.1 }, 'speed_out_of_range'],
    ['a speed that is NaN', { speed: Number.NaN }, 'speed_out_of_range'],
    ['a format that it does not declare', { format: { sampleRateHz: 48_000, channels: 2 } }, 'format_not_supported'],
  ])('refuses %s', async (_name, wrong, code) => {
    const request = { text: 'One.', language, ...wrong }
    await expect(synthesise(shared(), request)).rejects.toMatchObject({ name: 'ParleyError', code })
  })
}
