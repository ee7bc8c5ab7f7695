import type { Samples } from '@parley/kernel'
import type { FakeWord, WordRecogniser } from '../protocol.ts'
import type { StreamAudio } from './stream-audio.ts'

/** 20 ms. */
const BLOCK: Samples = 160
/** Mean amplitude above which a block counts as voice. */
const LOUD = 100
/** Consecutive loud blocks with which voice begins. */
const VOICE_BLOCKS = 3

interface AudioListenerEvents {
  onWord(word: FakeWord): void
  /** After each 20 ms of the stream. */
  onBlock(): void
}

/** Analyses the audio of one stream: a recogniser finds the words, and loudness shows voice. Positions are at 8 kHz. */
export class AudioListener {
  readonly #audio: StreamAudio
  readonly #recogniser: WordRecogniser
  readonly #listener: AudioListenerEvents
  readonly #block = new Int16Array(BLOCK)
  #blockLength = 0
  #loudBlocks = 0
  #heard: Samples = 0
  #voiceFrom: Samples | null = null
  #voiceUntil: Samples = 0

  constructor(audio: StreamAudio, recogniser: WordRecogniser, listener: AudioListenerEvents) {
    this.#audio = audio
    this.#recogniser = recogniser
    this.#listener = listener
    recogniser.onWord(word => {
      this.#voiceUntil = Math.max(this.#voiceUntil, word.endSample)
      listener.onWord(word)
    })
  }

  /** End of the audio that was analysed. */
  get heard(): Samples {
    return this.#heard
  }

  /** Start of the first voice since `forgetVoice`; null: there was none. */
  get voiceFrom(): Samples | null {
    return this.#voiceFrom
  }

  /** Silence since the last voice. */
  get quiet(): Samples {
    return this.#heard - this.#voiceUntil
  }

  forgetVoice(): void {
    this.#voiceFrom = null
  }

  /** `bytes`: the next audio message of the stream. */
  write(bytes: Uint8Array): void {
    const samples = this.#audio.decode(bytes)
    for (let done = 0; done < samples.length; ) {
      const count = Math.min(BLOCK - this.#blockLength, samples.length - done)
      this.#block.set(samples.subarray(done, done + count), this.#blockLength)
      this.#blockLength += count
      done += count
      if (this.#blockLength === BLOCK) this.#takeBlock()
    }
  }

  close(): void {
    this.#recogniser.close()
  }

  #takeBlock(): void {
    this.#blockLength = 0
    this.#heard += BLOCK
    this.#loudBlocks = loudnessOf(this.#block) > LOUD ? this.#loudBlocks + 1 : 0
    if (this.#loudBlocks >= VOICE_BLOCKS) {
      this.#voiceFrom ??= this.#heard - VOICE_BLOCKS * BLOCK
      this.#voiceUntil = this.#heard
    }
    this.#recogniser.write(this.#block)
    this.#listener.onBlock()
  }
}

/** Mean amplitude. */
function loudnessOf(block: Int16Array): number {
  let sum = 0
  for (let i = 0; i < block.length; i++) sum += Math.abs(block[i]!)
  return sum / block.length
}
