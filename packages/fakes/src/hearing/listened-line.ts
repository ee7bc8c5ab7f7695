import type { Samples } from '@parley/kernel'
import { decodePcmu } from '@parley/media'
import type { FakeHearing, FakeWord } from '../protocol.ts'

/** 20 ms. */
const BLOCK: Samples = 160
/** Mean amplitude of what is taken for a voice. */
const LOUD = 100
/** So many loud blocks in a row are a voice. */
const VOICE_BLOCKS = 3

interface LineListener {
  onWord(word: FakeWord): void
  /** After each 20 ms of the stream. */
  onBlock(): void
}

/** The audio of one stream, mu-law: its words by the hearing, and whether there is a voice, by loudness. */
export class ListenedLine {
  readonly #hearing: FakeHearing
  readonly #listener: LineListener
  readonly #block = new Int16Array(BLOCK)
  #blockLength = 0
  #loudBlocks = 0
  #heard: Samples = 0
  #voiceFrom: Samples | null = null
  #voiceUntil: Samples = 0

  constructor(hearing: FakeHearing, listener: LineListener) {
    this.#hearing = hearing
    this.#listener = listener
    hearing.onWord(word => {
      this.#voiceUntil = Math.max(this.#voiceUntil, word.endSample)
      listener.onWord(word)
    })
  }

  /** How much was heard. */
  get heard(): Samples {
    return this.#heard
  }

  /** When a voice began, since `forgetVoice`; null when there was none. */
  get voiceFrom(): Samples | null {
    return this.#voiceFrom
  }

  /** How long nobody has been speaking. */
  get quiet(): Samples {
    return this.#heard - this.#voiceUntil
  }

  forgetVoice(): void {
    this.#voiceFrom = null
  }

  hear(bytes: Uint8Array): void {
    const samples = new Int16Array(bytes.length)
    decodePcmu(bytes, 0, bytes.length, samples, 0)
    for (let done = 0; done < samples.length; ) {
      const count = Math.min(BLOCK - this.#blockLength, samples.length - done)
      this.#block.set(samples.subarray(done, done + count), this.#blockLength)
      this.#blockLength += count
      done += count
      if (this.#blockLength === BLOCK) this.#takeBlock()
    }
  }

  close(): void {
    this.#hearing.close()
  }

  #takeBlock(): void {
    this.#blockLength = 0
    this.#heard += BLOCK
    const loudness = this.#block.reduce((sum, sample) => sum + Math.abs(sample), 0) / BLOCK
    this.#loudBlocks = loudness > LOUD ? this.#loudBlocks + 1 : 0
    if (this.#loudBlocks >= VOICE_BLOCKS) {
      this.#voiceFrom ??= this.#heard - VOICE_BLOCKS * BLOCK
      this.#voiceUntil = this.#heard
    }
    this.#hearing.write(this.#block)
    this.#listener.onBlock()
  }
}
