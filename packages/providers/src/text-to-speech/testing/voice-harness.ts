import type { FakeVoiceCounts, FakeVoiceOptions, ServiceFault } from '@parley/fakes'
import type { Time } from '@parley/kernel'
import { expect } from 'vitest'
import type { VoiceBudgets } from '../service-utterance.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../text-to-speech.ts'

/** What a fake service lets a test do. */
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
  /** Over HTTP each utterance is a request of its own. */
  readonly over: 'socket' | 'http'
  /** Utterances at a time on one connection. */
  readonly utterancesPerConnection: number
  readonly tellsWords: boolean
  /** A voice that the fake does not know, and what comes of it. */
  readonly unknownVoice: { readonly voice: string; readonly code: string }
}

/** The fake and the voice of one test, both closed with it. */
export class VoiceHarness {
  readonly fake: FakeService
  readonly voice: TextToSpeech

  constructor(fake: FakeService, voice: TextToSpeech) {
    this.fake = fake
    this.voice = voice
  }

  say(text: string, more: Partial<SpeechRequest> = {}): Utterance {
    return new Utterance(this.voice, { text, language: 'en', ...more })
  }
}

/** One utterance as it comes. */
export class Utterance {
  readonly chunks: SpeechChunk[] = []
  readonly #controller = new AbortController()
  /** Resolves with the error that it ended with, or null. */
  readonly ended: Promise<unknown>

  constructor(voice: TextToSpeech, request: SpeechRequest, onChunk: (utterance: Utterance) => void = () => {}) {
    this.ended = this.#listen(voice, request, onChunk).catch((error: unknown) => error)
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

  async #listen(voice: TextToSpeech, request: SpeechRequest, onChunk: (utterance: Utterance) => void): Promise<null> {
    for await (const chunk of voice.synthesize(request, this.#controller.signal)) {
      this.chunks.push(chunk)
      onChunk(this)
    }
    return null
  }
}

/** The same audio; an assertion on arrays would take longer than all else. */
export function expectSame(heard: Int16Array, expected: Int16Array): void {
  expect(heard.length).toBe(expected.length)
  expect(Buffer.compare(bytesOf(heard), bytesOf(expected))).toBe(0)
}

function bytesOf(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
}

/** Until `holds`, which something under way brings about. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 1))
}

/** For taking apart. */
export function bound(stage: VoiceHarness) {
  return { fake: stage.fake, voice: stage.voice, say: stage.say.bind(stage) }
}
