import type { Samples } from '@parley/kernel'
import type { HeardWord, SpeechToText } from './speech-to-text.ts'

/** A recogniser's stream as whoever only wants each word, once and in order. */
export interface WordStream {
  /** 8 kHz mono 16-bit, without gaps. */
  write(audio: Int16Array): void
  /** One listener. Times are samples since the stream began. */
  onWord(listener: (word: HeardWord) => void): void
  close(): void
}

/** Listens with a recogniser that does not take words back. Throws what its `open` throws. */
export function wordByWord(recogniser: SpeechToText, language: string): WordStream {
  const stream = recogniser.open({ language })
  let position: Samples = 0
  let told = 0
  let listener: (word: HeardWord) => void = () => {}
  stream.onEvent(event => {
    if (event.type !== 'partial' && event.type !== 'final') return
    for (const word of event.words.slice(told)) listener(word)
    told = event.type === 'final' ? 0 : event.words.length
  })
  return {
    write: audio => {
      stream.write(audio, position)
      position += audio.length
    },
    onWord: heard => {
      listener = heard
    },
    close: () => stream.close(),
  }
}
