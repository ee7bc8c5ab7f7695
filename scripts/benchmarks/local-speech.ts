import { resample } from '../../media/src/index.ts'
import { readSettings } from '../../packages/cli/src/environment.ts'
import { findInstallation, SPEECH_PROGRAMS } from '../../packages/cli/src/speech/installation.ts'
import { SpeechServer } from '../../packages/cli/src/speech/speech-server.ts'
import type { AudioFormat } from '../../packages/kernel/src/index.ts'
import { readTranscription, transcriptionBody } from '../../packages/providers/src/openai/transcription.ts'

/** Rate of the local voice. */
const VOICE_RATE_HZ = 24_000
const BOUNDARY = 'phrase-of-the-benchmark'

/** The local recogniser and voice of `parley speech install`, for benchmarks. */
export class LocalSpeech {
  readonly #ears: SpeechServer
  readonly #mouth: SpeechServer

  private constructor(ears: SpeechServer, mouth: SpeechServer) {
    this.#ears = ears
    this.#mouth = mouth
  }

  /** `python`: that of an installation; undefined: of the installation in the home of Parley. Rejects where there is none. */
  static async start(python: string | undefined, printLine: (line: string) => void): Promise<LocalSpeech> {
    const found = python ?? (await findInstallation(readSettings(process.env).home))?.python
    if (found === undefined) throw new Error('there is no local speech: run "npx parley speech install" first')
    const [ears, mouth] = await Promise.all(
      SPEECH_PROGRAMS.map(program => SpeechServer.start({ python: found, program, printLine })),
    )
    return new LocalSpeech(ears!, mouth!)
  }

  async speak(input: string, { sampleRateHz }: AudioFormat): Promise<Int16Array> {
    const response = await fetch(`http://127.0.0.1:${this.#mouth.port}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'local', input, voice: 'heart', response_format: 'pcm' }),
    })
    if (!response.ok) throw new Error(`the local voice answered ${response.status}`)
    const bytes = await response.arrayBuffer()
    return resample(new Int16Array(bytes.slice(0, bytes.byteLength & ~1)), VOICE_RATE_HZ, sampleRateHz)
  }

  /** The words that the recogniser understands, in lower case. */
  async understand(samples: Int16Array, format: AudioFormat): Promise<string[]> {
    const phrase = { samples, format, language: 'en', keywords: [] }
    const response = await fetch(`http://127.0.0.1:${this.#ears.port}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: Uint8Array.from(transcriptionBody(phrase, { model: 'local', boundary: BOUNDARY })),
    })
    if (!response.ok) throw new Error(`the local recogniser answered ${response.status}`)
    return spokenWords(readTranscription(await response.text()).text)
  }

  async close(): Promise<void> {
    await Promise.all([this.#ears.close(), this.#mouth.close()])
  }
}

/** Words of a text in lower case, without punctuation. */
export function spokenWords(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}' ]/gu, ' ')
    .split(/\s+/)
    .filter(word => word !== '')
}
