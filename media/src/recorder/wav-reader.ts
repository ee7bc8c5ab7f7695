import type { ParleyError } from '@parley/kernel'
import { decodePcma, decodePcmu } from '../codec/g711.ts'
import { MediaError } from '../errors.ts'
import { readRiffChunks, riffTagAt, viewOf } from './riff-chunks.ts'

interface WavAudio {
  readonly sampleRate: number
  readonly encoding: 'PCM' | 'PCMU' | 'PCMA'
  /** One array per channel, equally long. */
  readonly channels: readonly Int16Array[]
}

interface Format {
  readonly encoding: WavAudio['encoding']
  readonly channels: number
  readonly sampleRate: number
  readonly bits: number
}

const ENCODINGS = new Map<number, WavAudio['encoding']>([
  [1, 'PCM'],
  [6, 'PCMA'],
  [7, 'PCMU'],
])
const FORMAT_EXTENSIBLE = 0xfffe
const MAX_CHANNELS = 8
const DEFAULT_MAX_FRAMES = 8000 * 7200

/**
 * Reads 8- or 16-bit PCM, mu-law or A-law WAV. A data chunk that claims more than is there (streamed or cut-off files)
 * ends with the file. `maxFrames`: frames beyond are left out; default 57.6 million (two hours at 8 kHz, one at 16 kHz).
 * Throws `MediaError` "invalid_wav".
 */
export function readWav(bytes: Uint8Array, options: { readonly maxFrames?: number } = {}): WavAudio {
  const view = viewOf(bytes)
  if (bytes.length < 12 || riffTagAt(view, 0) !== 'RIFF' || riffTagAt(view, 8) !== 'WAVE')
    throw invalid('it does not begin with RIFF and WAVE')
  let format: Format | undefined
  for (const { tag, at, size } of readRiffChunks(view)) {
    if (tag === 'fmt ') format = readFormat(view, at, size)
    if (tag !== 'data') continue
    if (format === undefined) throw invalid('its data comes before its format')
    return readData(bytes, at, Math.min(size, bytes.length - at), format, options.maxFrames ?? DEFAULT_MAX_FRAMES)
  }
  throw invalid('it has no data chunk')
}

function readFormat(view: DataView, at: number, size: number): Format {
  if (size < 16 || at + size > view.byteLength) throw invalid('its format chunk is cut off')
  const tag = view.getUint16(at, true)
  // The extensible form carries the real format in the first two bytes of its GUID.
  const code = tag === FORMAT_EXTENSIBLE && size >= 40 ? view.getUint16(at + 24, true) : tag
  const encoding = ENCODINGS.get(code)
  const channels = view.getUint16(at + 2, true)
  const sampleRate = view.getUint32(at + 4, true)
  const bits = view.getUint16(at + 14, true)
  if (encoding === undefined) throw invalid(`its format ${code} is not PCM, mu-law or A-law`)
  if (channels < 1 || channels > MAX_CHANNELS) throw invalid(`it has ${channels} channels`)
  if (sampleRate < 1000 || sampleRate > 384_000) throw invalid(`its sample rate is ${sampleRate}`)
  if (bits !== 8 && !(bits === 16 && encoding === 'PCM')) throw invalid(`it has ${bits} bits per sample`)
  return { encoding, channels, sampleRate, bits }
}

function readData(bytes: Uint8Array, at: number, length: number, format: Format, maxFrames: number): WavAudio {
  const sampleBytes = format.bits / 8
  const frames = Math.min(Math.floor(length / (format.channels * sampleBytes)), maxFrames)
  const interleaved = new Int16Array(frames * format.channels)
  if (format.encoding === 'PCMU') decodePcmu(bytes, at, interleaved.length, interleaved, 0)
  else if (format.encoding === 'PCMA') decodePcma(bytes, at, interleaved.length, interleaved, 0)
  else if (sampleBytes === 1) for (let i = 0; i < interleaved.length; i++) interleaved[i] = (bytes[at + i]! - 128) << 8
  else for (let i = 0; i < interleaved.length; i++) interleaved[i] = bytes[at + 2 * i]! | (bytes[at + 2 * i + 1]! << 8)
  const channels = Array.from({ length: format.channels }, (_, channel) => {
    const samples = new Int16Array(frames)
    for (let i = 0; i < frames; i++) samples[i] = interleaved[i * format.channels + channel]!
    return samples
  })
  return { sampleRate: format.sampleRate, encoding: format.encoding, channels }
}

function invalid(what: string): ParleyError {
  return new MediaError('invalid_wav', `Not a WAV file that can be read: ${what}.`)
}
