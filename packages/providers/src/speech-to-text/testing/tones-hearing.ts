import type { FakeHearing, FakeWord, OpenHearing } from '@parley/fakes'
import { TonesRecogniser } from '../../simulated/tones-recogniser.ts'

/** The hearing of fakes in tests: they understand what `TonesVoice` says. */
export const tonesHearing: OpenHearing = language => new TonesHearing(language)

class TonesHearing implements FakeHearing {
  readonly #stream
  #position = 0
  #told = 0
  #listener: (word: FakeWord) => void = () => {}

  constructor(language: string) {
    this.#stream = new TonesRecogniser().open({ language, sampleRate: 8000 })
    this.#stream.onEvent(event => {
      if (event.type !== 'partial' && event.type !== 'final') return
      for (const word of event.words.slice(this.#told)) this.#listener(word)
      this.#told = event.type === 'final' ? 0 : event.words.length
    })
  }

  write(audio: Int16Array): void {
    this.#stream.write(audio, this.#position)
    this.#position += audio.length
  }

  onWord(listener: (word: FakeWord) => void): void {
    this.#listener = listener
  }

  close(): void {
    this.#stream.close()
  }
}
