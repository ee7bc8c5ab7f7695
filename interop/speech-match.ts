import { readFileSync } from 'node:fs'

/** Is the speech of one recording inside another? */
export interface SpeechMatch {
  /** 1 for a bit-true path, about 0.3 for other speech; 0.5 and above counts as heard. */
  readonly score: number
  /** Where the first piece of the speech begins, in each recording. */
  readonly sentAtSeconds: number
  readonly heardAtSeconds: number
  readonly heardSeconds: number
}

const RATE = 8000
/** Speech survives at 2 kHz, and the search is sixteen times cheaper there. */
const DECIMATION = 4
const SLOW_RATE = RATE / DECIMATION
const PIECES = 6
const PIECE = SLOW_RATE / 2
const PIECE_DISTANCE = 1200

/**
 * Takes six half-second pieces out of the first 3.5 s of speech in `sent` and looks for each anywhere in `heard` by
 * normalised cross-correlation; the third best counts, so that a gap costs pieces and not the verdict.
 * Both are paths of 8 kHz mono 16-bit WAV files.
 */
export function matchSpeech(sent: string, heard: string): SpeechMatch {
  const spoken = decimate(readMonoWav(sent))
  const all = readMonoWav(heard)
  const found = decimate(all)
  const first = Math.max(
    0,
    spoken.findIndex(value => Math.abs(value) > 0.01),
  )
  const places = Array.from({ length: PIECES }, (_, k) => {
    const start = first + k * PIECE_DISTANCE
    return bestPlace(spoken.subarray(start, start + PIECE), found)
  })
  return {
    score: places.map(place => place.correlation).sort((a, b) => b - a)[2]!,
    sentAtSeconds: first / SLOW_RATE,
    heardAtSeconds: places[0]!.at / SLOW_RATE,
    heardSeconds: all.length / RATE,
  }
}

/** Samples of an 8 kHz mono 16-bit WAV, -1 to 1. Throws on any other file. */
export function readMonoWav(path: string): Float64Array {
  const bytes = readFileSync(path)
  if (bytes.toString('latin1', 0, 4) !== 'RIFF') throw new Error(`${path} is not a WAV file`)
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32LE(at + 4)
    const id = bytes.toString('latin1', at, at + 4)
    const body = at + 8
    if (id === 'fmt ') {
      const format = [bytes.readUInt16LE(body + 2), bytes.readUInt32LE(body + 4), bytes.readUInt16LE(body + 14)]
      if (format.join() !== [1, RATE, 16].join()) throw new Error(`${path} is not 8 kHz mono 16-bit: ${format}`)
    }
    if (id === 'data') {
      const count = Math.min(size, bytes.length - body) >> 1
      return Float64Array.from({ length: count }, (_, i) => bytes.readInt16LE(body + 2 * i) / 32768)
    }
    at = body + size + (size & 1)
  }
  throw new Error(`${path} has no data chunk`)
}

function bestPlace(piece: Float64Array, within: Float64Array): { correlation: number; at: number } {
  const pieceEnergy = energy(piece)
  let windowEnergy = energy(within.subarray(0, piece.length))
  let best = { correlation: 0, at: 0 }
  for (let at = 0; at + piece.length <= within.length; at++) {
    let dot = 0
    for (let i = 0; i < piece.length; i++) dot += piece[i]! * within[at + i]!
    // The floor keeps near silence from correlating with anything.
    const correlation = dot / Math.sqrt(pieceEnergy * Math.max(windowEnergy, 1e-3))
    if (correlation > best.correlation) best = { correlation, at }
    windowEnergy += (within[at + piece.length] ?? 0) ** 2 - within[at]! ** 2
  }
  return best
}

function decimate(samples: Float64Array): Float64Array {
  const out = new Float64Array(Math.floor(samples.length / DECIMATION))
  for (let i = 0; i < out.length; i++) {
    let sum = 0
    for (let k = 0; k < DECIMATION; k++) sum += samples[DECIMATION * i + k]!
    out[i] = sum / DECIMATION
  }
  return out
}

function energy(samples: Float64Array): number {
  return samples.reduce((sum, value) => sum + value * value, 0)
}
