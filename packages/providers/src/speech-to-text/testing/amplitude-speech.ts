import type { FakeWord, OpenRecogniser, WordRecogniser } from '@parley/fakes'

const WORD = 1600
const PAUSE = 400
const STEP = 2400
const BLOCK = 160

/** Words that `amplitudeRecogniser` recognises, in order of amplitude. */
const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'] as const

/**
 * Synthetic speech for tests: each word is 200 ms of a square wave, whose amplitude encodes the word, and a pause of 50 ms.
 * Not robust enough for telephone lines.
 */
export function amplitudeSpeech(text: string): Int16Array {
  const words = text.split(' ')
  const audio = new Int16Array(words.length * (WORD + PAUSE))
  for (const [i, word] of words.entries()) {
    const amplitude = STEP * (1 + WORDS.indexOf(word as (typeof WORDS)[number]))
    const from = i * (WORD + PAUSE)
    for (let k = 0; k < WORD; k++) audio[from + k] = (k & 8) === 0 ? amplitude : -amplitude
  }
  return audio
}

/** Loud audio that encodes no word. */
export function unintelligibleSpeech(samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, k) => (k & 8 ? -600 : 600))
}

export const amplitudeRecogniser: OpenRecogniser = () => new AmplitudeRecogniser()

class AmplitudeRecogniser implements WordRecogniser {
  #listener: (word: FakeWord) => void = () => {}
  #position = 0
  #from = 0
  #sum = 0
  #loud = 0

  write(audio: Int16Array): void {
    for (let at = 0; at < audio.length; at += BLOCK) this.#process(audio.subarray(at, at + BLOCK))
  }

  onWord(listener: (word: FakeWord) => void): void {
    this.#listener = listener
  }

  close(): void {
    this.#listener = () => {}
  }

  #process(block: Int16Array): void {
    for (const sample of block) {
      const level = Math.abs(sample)
      if (level < STEP / 2) this.#endWord()
      else {
        if (this.#loud === 0) this.#from = this.#position
        this.#loud++
        this.#sum += level
      }
      this.#position++
    }
  }

  #endWord(): void {
    const text = WORDS[Math.round(this.#sum / this.#loud / STEP) - 1]
    // Half a word is not recognised.
    const isWord = this.#loud >= WORD * 0.6
    this.#loud = this.#sum = 0
    if (isWord && text !== undefined) this.#listener({ text, startSample: this.#from, endSample: this.#position })
  }
}
