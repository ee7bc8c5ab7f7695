import type { Samples } from '@parley/kernel'
import type { HeardWord, SpeechToText } from './speech-to-text.ts'

/** A recogniser's stream that reports each word once, in order. */
interface WordStream {
  /** 8 kHz mono 16-bit, without gaps. */
  write(audio: Int16Array): void
  /** One listener. Times are samples since the stream began. */
  onWord(listener: (word: HeardWord) => void): void
  close(): void
}

/** Opens a stream of a recogniser that does not revise words. Throws what `open` throws. */
export function wordByWord(recogniser: SpeechToText, language: string): WordStream {
  // Voice without words is of no use here: a recogniser in this process that is told of none does not look for it.
  const stream = recogniser.open({ language, tellsVoice: true })
  let position: Samples = 0
  let reported = 0
  let listener: (word: HeardWord) => void = () => {}
  stream.onEvent(event => {
    if (event.type !== 'partial' && event.type !== 'final') return
    for (const word of event.words.slice(reported)) listener(word)
    reported = event.type === 'final' ? 0 : event.words.length
  })
  return {
    write: audio => {
      stream.write(audio, position)
      position += audio.length
    },
    onWord: onWord => {
      listener = onWord
    },
    close: () => stream.close(),
  }
}
