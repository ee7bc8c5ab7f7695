import { type AudioFormat, NARROWBAND, samplesToMs, TaskThread, WIDEBAND } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../../errors.ts'
import { LocalEspeak } from '../../local/io/espeak-voice.ts'
import { LocalFlite } from '../../local/io/flite-voice.ts'
import { untilAborted } from '../../text-to-speech/by-sentence.ts'
import { ByteBoundedCache } from '../../text-to-speech/byte-bounded-cache.ts'
import { checkSpeechRequest, primaryTag, renderingKey, reportSent } from '../../text-to-speech/request.ts'
import { sentences } from '../../text-to-speech/sentences.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../../text-to-speech/text-to-speech.ts'
import { voiceSemaphore } from '../../text-to-speech/voice-semaphore.ts'
import { VOICE_THREAD_IDLE_MS } from '../../text-to-speech/voice-thread.ts'
import type { Rendering } from '../rendering.ts'
import type { RenderingTask } from './rendering-worker.ts'

/** Word positions are estimated within a sentence, so shorter sentences give better ones. */
const MAX_SENTENCE_CHARACTERS = 160
const RENDERING_OVERHEAD_BYTES = 500
const MAX_WAITING = 1024
/** Most texts that one `warm` renders. */
const MAX_WARMED = 200
/** Sentences of all `warm`s that wait to be rendered; further ones are not. */
const MAX_WARM_SENTENCES = 1000

interface TonesVoiceOptions {
  /** For all renderings together; default 64 MiB, 70 minutes of speech. */
  readonly cacheBytes?: number
  /** Voices by language; default Flite for English, espeak-ng for Spanish. Closed with this voice. */
  readonly speakers?: Readonly<Record<string, Speaker>>
}

interface Speaker {
  readonly voice: TextToSpeech
  /** Names of its voices for this language. */
  readonly voices: readonly string[]
}

/**
 * The built-in voice: speech of a local voice, with its words added as quiet tones that `TonesRecogniser` decodes. Each
 * sentence is rendered once, on a worker thread, and cached.
 */
export class TonesVoice implements TextToSpeech {
  readonly id = 'simulated/tones-1'
  readonly languages: readonly string[]
  /** Formats that the voices of all languages deliver. */
  readonly formats: readonly AudioFormat[]
  readonly #speakers: Readonly<Record<string, Speaker>>
  readonly #renderings: ByteBoundedCache<Rendering>
  readonly #running = new Map<string, Promise<Rendering>>()
  /** Sentences that `warm` asked for and that are not rendering yet, by key, oldest first. */
  readonly #toWarm = new Map<string, SpeechRequest>()
  readonly #semaphore = voiceSemaphore(1, MAX_WAITING)
  readonly #thread = new TaskThread<RenderingTask, Rendering>({
    name: 'tones',
    script: new URL('./rendering-worker.ts', import.meta.url),
    // A machine that starts several platforms at once renders the first words for as long as this.
    timeoutMs: 30_000,
    heapMiB: 64,
    idleMs: VOICE_THREAD_IDLE_MS,
  })
  readonly #closing = new AbortController()

  constructor(options: TonesVoiceOptions = {}) {
    this.#speakers = options.speakers ?? localSpeakers()
    this.languages = Object.keys(this.#speakers)
    const isWide = Object.values(this.#speakers).every(({ voice }) => voice.formats?.includes(WIDEBAND))
    this.formats = isWide ? [NARROWBAND, WIDEBAND] : [NARROWBAND]
    this.#renderings = new ByteBoundedCache(options.cacheBytes ?? 64 * 1024 * 1024)
  }

  async readiness(language = this.languages[0]!): Promise<string | null> {
    const speaker = this.#speakers[primaryTag(language)]
    return speaker === undefined ? `no voice for "${language}"` : speaker.voice.readiness()
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechChunk, void, undefined> {
    const voices = this.#speakers[primaryTag(request.language)]?.voices ?? []
    const { languages, formats } = this
    checkSpeechRequest(request, { languages, formats, voices })
    if (signal.aborted) return
    // Cached sentences count, too, as they would at a service.
    reportSent(request)
    const { format = NARROWBAND } = request
    let startMs = 0
    for (const text of sentences(request.text, MAX_SENTENCE_CHARACTERS)) {
      const rendering = await untilAborted(signal, this.#rendering(request, text))
      if (rendering === null) return
      if (rendering.samples.length === 0) continue
      const beganMs = startMs
      startMs += samplesToMs(rendering.samples.length, format)
      const words = rendering.words.map(({ text, startSample }) => ({
        text,
        startMs: beganMs + samplesToMs(startSample, NARROWBAND),
      }))
      // A copy: a consumer may hand the samples' buffer on to another thread.
      yield { samples: rendering.samples.slice(), words }
      if (signal.aborted) return
    }
  }

  /** Sentences are rendered one at a time and only while no call waits for one: a caller never waits behind them. */
  warm({ texts = [], ...request }: Parameters<NonNullable<TextToSpeech['warm']>>[0]): void {
    if (this.#closing.signal.aborted) return
    this.#thread.prepare()
    this.#speakers[primaryTag(request.language)]?.voice.warm?.(request)
    for (const text of texts.slice(0, MAX_WARMED)) {
      for (const sentence of sentences(text, MAX_SENTENCE_CHARACTERS)) {
        if (this.#toWarm.size >= MAX_WARM_SENTENCES) break
        const spoken = { ...request, text: sentence }
        this.#toWarm.set(renderingKey(spoken), spoken)
      }
    }
    this.#warmNext()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#toWarm.clear()
    this.#renderings.clear()
    const speakers = Object.values(this.#speakers)
    await Promise.all([this.#thread.close(), ...speakers.map(({ voice }) => voice.close())])
  }

  /** One rendering for all concurrent requests. An abort does not stop it, because it is cached for later requests. */
  #rendering({ language, voice, speed, format }: Omit<SpeechRequest, 'text'>, text: string): Promise<Rendering> {
    if (this.#closing.signal.aborted) return Promise.reject(closed())
    const request = {
      text,
      language,
      ...(voice !== undefined && { voice }),
      ...(speed !== undefined && { speed }),
      ...(format !== undefined && { format }),
    }
    const key = renderingKey(request)
    const known = this.#renderings.get(key)
    if (known !== undefined) return Promise.resolve(known)
    const running = this.#running.get(key)
    if (running !== undefined) return running
    this.#toWarm.delete(key)
    const rendering = this.#render(key, request).finally(() => {
      this.#running.delete(key)
      this.#warmNext()
    })
    this.#running.set(key, rendering)
    return rendering
  }

  #warmNext(): void {
    if (this.#running.size > 0) return
    const [next] = this.#toWarm.values()
    if (next === undefined) return
    this.#toWarm.delete(renderingKey(next))
    // A cached sentence starts nothing that would go on to the next one.
    this.#rendering(next, next.text).then(
      () => this.#warmNext(),
      () => {},
    )
  }

  async #render(key: string, request: SpeechRequest): Promise<Rendering> {
    const speech = await this.#speak(request)
    if (speech.length === 0) return { samples: speech, words: [] }
    if (!(await this.#semaphore.acquire(this.#closing.signal))) throw closed()
    try {
      const rendering = await this.#thread.run(
        { speech, text: request.text, format: request.format ?? NARROWBAND },
        null,
      )
      if (!this.#closing.signal.aborted) {
        const bytes = rendering.samples.byteLength + 2 * key.length + RENDERING_OVERHEAD_BYTES
        this.#renderings.set(key, rendering, bytes)
      }
      return rendering
    } catch (cause) {
      if (this.#closing.signal.aborted) throw closed()
      throw new ProviderError('voice_failed', 'The tones of the words could not be rendered.', { cause })
    } finally {
      this.#semaphore.release()
    }
  }

  async #speak(request: SpeechRequest): Promise<Int16Array> {
    const { voice } = this.#speakers[primaryTag(request.language)]!
    const chunks: Int16Array[] = []
    for await (const { samples } of voice.synthesize(request, this.#closing.signal)) chunks.push(samples)
    if (this.#closing.signal.aborted) throw closed()
    const speech = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
    let at = 0
    for (const chunk of chunks) {
      speech.set(chunk, at)
      at += chunk.length
    }
    return speech
  }
}

function closed(): ProviderFailure {
  return new ProviderError('voice_closed', 'This voice was closed.')
}

function localSpeakers(): Record<string, Speaker> {
  const flite = new LocalFlite()
  return {
    en: { voice: flite, voices: flite.voices },
    es: { voice: new LocalEspeak(), voices: ['es', 'es-419'] },
  }
}
