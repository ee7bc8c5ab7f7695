import type { AudioFormat } from '@parley/kernel'
import type { AudioDecoder } from '../text-to-speech/audio-decoder.ts'

/** The answer's beginning, up to its audio, is not longer. */
const MAX_HEAD = 1000
/** A WAV header is not longer. */
const MAX_WAV_HEADER = 4096

/**
 * Decodes the answer `{"audioContent": "BASE64"}` while it arrives: the audio is a WAV file, whose samples `inner`
 * decodes. An answer of another form has no samples.
 */
export class AudioContentDecoder implements AudioDecoder {
  readonly format: AudioFormat
  readonly #inner: AudioDecoder
  #state: 'before' | 'inside' | 'after' = 'before'
  /** Characters of the answer that are not decoded. */
  #text = ''
  /** The beginning of the WAV file; null: its header was read. */
  #header: Buffer | null = Buffer.alloc(0)

  constructor(inner: AudioDecoder) {
    this.#inner = inner
    this.format = inner.format
  }

  decode(bytes: Uint8Array): Int16Array {
    if (this.#state === 'after') return new Int16Array(0)
    this.#text += Buffer.from(bytes).toString('latin1')
    if (this.#state === 'before') this.#begin()
    return this.#state === 'before' ? new Int16Array(0) : this.#inner.decode(this.#samples(this.#base64()))
  }

  end(): Int16Array {
    return this.#inner.end()
  }

  #begin(): void {
    const head = /"audioContent"\s*:\s*"/.exec(this.#text)
    if (head !== null) {
      this.#state = 'inside'
      this.#text = this.#text.slice(head.index + head[0].length)
    } else if (this.#text.length > MAX_HEAD) this.#state = 'after'
  }

  /** The bytes of all complete groups of four characters. */
  #base64(): Buffer {
    const end = this.#text.indexOf('"')
    if (end !== -1) this.#state = 'after'
    const usable = end === -1 ? this.#text.length - (this.#text.length % 4) : end
    const bytes = Buffer.from(this.#text.slice(0, usable), 'base64')
    this.#text = this.#text.slice(usable)
    return bytes
  }

  /** `bytes` without the WAV header, which ends with the header of the chunk "data". */
  #samples(bytes: Buffer): Buffer {
    if (this.#header === null) return bytes
    const file = Buffer.concat([this.#header, bytes])
    this.#header = file
    for (let at = 12; at + 8 <= file.length; at += 8 + file.readUInt32LE(at + 4)) {
      if (file.toString('latin1', at, at + 4) !== 'data') continue
      this.#header = null
      return file.subarray(at + 8)
    }
    if (file.length > MAX_WAV_HEADER) this.#state = 'after'
    return Buffer.alloc(0)
  }
}
