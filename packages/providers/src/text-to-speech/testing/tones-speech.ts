import type { FakeSpeech, Speak } from '@parley/fakes'
import { TonesVoice } from '../../simulated/io/tones-voice.ts'

/** The built-in voice as the voice of a fake service. */
export class TonesSpeech {
  readonly #voice = new TonesVoice()

  /** "en", and "es" if espeak-ng is installed. */
  async languages(): Promise<readonly string[]> {
    return (await this.#voice.readiness('es')) === null ? ['en', 'es'] : ['en']
  }

  readonly speak: Speak = async request => {
    const pieces: Int16Array[] = []
    const words: FakeSpeech['words'][number][] = []
    for await (const chunk of this.#voice.synthesize(request, new AbortController().signal)) {
      pieces.push(chunk.samples)
      words.push(...chunk.words)
    }
    const samples = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
    let at = 0
    for (const piece of pieces) {
      samples.set(piece, at)
      at += piece.length
    }
    return { samples, words }
  }

  close(): Promise<void> {
    return this.#voice.close()
  }
}
