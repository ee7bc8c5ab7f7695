import type { Ms } from '@parley/kernel'
import type { SpeechChunk } from '@parley/providers'

type WordTime = SpeechChunk['words'][number]

/**
 * Converts the times of spoken words ("twelve dollars and fifty cents") to times of the written ones ("$12.50"), so that a transcript
 * holds what the agent wrote. Written words of one piece are spread over its spoken words.
 */
export class WrittenWords {
  readonly spokenText: string
  /** By spoken word: the written words that begin with it. */
  readonly #written: readonly (readonly string[])[]
  #next = 0

  constructor(pieces: readonly { readonly written: string; readonly spoken: string }[]) {
    this.spokenText = pieces.map(({ spoken }) => spoken).join(' ')
    this.#written = pieces.flatMap(piece => spread(tokensOf(piece.written), tokensOf(piece.spoken).length))
  }

  convert({ samples, words }: SpeechChunk): SpeechChunk {
    return { samples, words: words.flatMap(word => this.#writtenAt(word.startMs)) }
  }

  #writtenAt(startMs: Ms): WordTime[] {
    const written = this.#written[this.#next++] ?? []
    return written.map(text => ({ text, startMs }))
  }
}

function spread(written: readonly string[], spokenCount: number): string[][] {
  const at = Array.from({ length: Math.max(1, spokenCount) }, (): string[] => [])
  for (const [index, text] of written.entries()) at[Math.floor((index * at.length) / written.length)]!.push(text)
  return at
}

function tokensOf(text: string): string[] {
  return text.split(/\s+/).filter(token => token !== '')
}
