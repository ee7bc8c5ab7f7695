import type { FakeVoiceCounts, FakeVoiceOptions, ServiceFault } from '@parley/fakes'
import type { Time } from '@parley/kernel'
import { expect } from 'vitest'
import type { VoiceBudgets } from '../service-utterance.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../text-to-speech.ts'

/** The controls of a fake service. */
interface FakeService {
  readonly url: string
  readonly counts: Readonly<FakeVoiceCounts>
  injectFaults(...faults: readonly (ServiceFault | null)[]): void
  closeIdle(): void
  breakOff(): void
  close(): Promise<void>
}

export interface MakeVoice {
  readonly url: string
  readonly apiKey: string
  readonly time: Time
  readonly budgets?: VoiceBudgets
  readonly maxSockets?: number
}

export interface VoiceUnderTest {
  readonly name: string
  readonly open: (options: FakeVoiceOptions) => Promise<FakeService>
  readonly make: (options: MakeVoice) => TextToSpeech
  /** "http": each utterance is its own request. */
  readonly over: 'socket' | 'http'
  /** Most concurrent utterances on one connection. */
  readonly utterancesPerConnection: number
  readonly hasWordTimes: boolean
  /** A voice that the fake does not know, and the error code for it. */
  readonly unknownVoice: { readonly voice: string; readonly code: string }
}

/** The fake and the voice of one test, both closed after it. */
export class VoiceHarness {
  readonly fake: FakeService
  readonly voice: TextToSpeech

  constructor(fake: FakeService, voice: TextToSpeech) {
    this.fake = fake
    this.voice = voice
  }

  /** Begins an utterance. An arrow function, so that tests can destructure the harness. */
  readonly say = (text: string, more: Partial<SpeechRequest> = {}): Utterance =>
    new Utterance(this.voice, { text, language: 'en', ...more })
}

/** One utterance with its chunks so far. */
export class Utterance {
  readonly chunks: SpeechChunk[] = []
  readonly #controller = new AbortController()
  /** Resolves with the error that it ended with, or null. */
  readonly ended: Promise<unknown>

  constructor(voice: TextToSpeech, request: SpeechRequest, onChunk: (utterance: Utterance) => void = () => {}) {
    this.ended = this.#collect(voice, request, onChunk).catch((error: unknown) => error)
  }

  abort(): void {
    this.#controller.abort()
  }

  get samples(): Int16Array {
    const all = new Int16Array(this.chunks.reduce((sum, { samples }) => sum + samples.length, 0))
    let at = 0
    for (const { samples } of this.chunks) {
      all.set(samples, at)
      at += samples.length
    }
    return all
  }

  get words(): readonly string[] {
    return this.chunks.flatMap(({ words }) => words.map(({ text }) => text))
  }

  async #collect(voice: TextToSpeech, request: SpeechRequest, onChunk: (utterance: Utterance) => void): Promise<null> {
    for await (const chunk of voice.synthesize(request, this.#controller.signal)) {
      this.chunks.push(chunk)
      onChunk(this)
    }
    return null
  }
}

/** Expects equal audio. Compares bytes, because an assertion on long arrays takes seconds. */
export function expectSame(actual: Int16Array, expected: Int16Array): void {
  expect(actual.length).toBe(expected.length)
  expect(Buffer.compare(bytesOf(actual), bytesOf(expected))).toBe(0)
}

function bytesOf(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
}

/** Polls until `holds` returns true. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 1))
}
