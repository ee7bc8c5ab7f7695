import { slidingProducts } from './sliding-products.ts'

/** 8 kHz is averaged down to 2 kHz, which suffices for speech at a sixteenth of the cost. */
const DECIMATION = 4
const PIECE = 1000
const PIECE_STEP = 1200
const PIECES = 6

export interface Resemblance {
  /** Third best of six normalised cross-correlations, 0 to 1, so that a gap in the audio spoils pieces but not the score. */
  readonly score: number
  /** Position of the best piece in `heard` minus its position in `speech`, in ms. */
  readonly offsetMs: number
}

/**
 * How well `speech` (8 kHz) matches part of `heard`. Half-second pieces of the first four seconds of `speech` are each
 * searched for in the whole of `heard`.
 */
export function resemblance(speech: Int16Array, heard: Int16Array): Resemblance {
  const a = decimate(speech)
  const b = decimate(heard)
  const start = Math.max(
    0,
    a.findIndex(value => Math.abs(value) > 0.01),
  )
  const pieces: { readonly from: number; readonly samples: Float32Array }[] = []
  for (let i = 0; i < PIECES; i++) {
    const from = start + i * PIECE_STEP
    const samples = a.subarray(from, Math.min(from + PIECE, a.length))
    if (samples.length < PIECE / 2) break
    pieces.push({ from, samples })
  }
  const energies = energiesUpTo(b)
  const products = slidingProducts(
    pieces.map(({ samples }) => samples),
    b,
  )
  const found = pieces.map(({ from, samples }, i) => {
    const best = bestPosition(samples, products[i]!, energies)
    return { score: scoreBetweenSamples(samples, heard, best), offset: best.at - from }
  })
  found.sort((x, y) => y.score - x.score)
  const judged = found[Math.min(2, found.length - 1)]
  return {
    score: judged?.score ?? 0,
    offsetMs: ((found[0]?.offset ?? 0) * DECIMATION) / 8,
  }
}

function decimate(samples: Int16Array): Float32Array {
  const out = new Float32Array(Math.floor(samples.length / DECIMATION))
  for (let i = 0; i < out.length; i++) {
    let sum = 0
    for (let k = 0; k < DECIMATION; k++) sum += samples[i * DECIMATION + k]!
    out[i] = sum / (DECIMATION * 32768)
  }
  return out
}

/** At each position, the energy of all samples before it. */
function energiesUpTo(samples: Float32Array): Float64Array {
  const sums = new Float64Array(samples.length + 1)
  for (let i = 0; i < samples.length; i++) sums[i + 1] = sums[i]! + samples[i]! ** 2
  return sums
}

/** Where the normalised cross-correlation is highest. `energies`: of what the piece is searched in, as `energiesUpTo` returns them. */
function bestPosition(
  piece: Float32Array,
  products: Float64Array,
  energies: Float64Array,
): { score: number; at: number } {
  const pieceEnergy = energy(piece)
  let best = { score: 0, at: 0 }
  for (let at = 0; at < products.length; at++) {
    const score = normalised(products[at]!, pieceEnergy, energies[at + piece.length]! - energies[at]!)
    if (score > best.score) best = { score, at }
  }
  return best
}

function normalised(product: number, pieceEnergy: number, windowEnergy: number): number {
  return product / Math.sqrt(Math.max(pieceEnergy * windowEnergy, 1e-9))
}

/**
 * Repeats the comparison at shifts of one 8 kHz sample around `place`: a piece that lies half a decimated sample off the grid
 * otherwise loses a third of its score.
 */
function scoreBetweenSamples(
  piece: Float32Array,
  heard: Int16Array,
  place: { readonly score: number; readonly at: number },
): number {
  let best = place.score
  for (let shift = 1 - DECIMATION; shift < DECIMATION; shift++) {
    const start = place.at * DECIMATION + shift
    if (start < 0) continue
    const window = decimate(heard.subarray(start, start + piece.length * DECIMATION))
    if (window.length < piece.length) continue
    let product = 0
    for (let i = 0; i < piece.length; i++) product += piece[i]! * window[i]!
    best = Math.max(best, normalised(product, energy(piece), energy(window)))
  }
  return best
}

function energy(samples: Float32Array): number {
  let sum = 0
  for (const sample of samples) sum += sample ** 2
  return sum
}

/** Root mean square, 0 to 1. */
export function loudness(samples: Int16Array): number {
  let sum = 0
  for (const sample of samples) sum += (sample / 32768) ** 2
  return Math.sqrt(sum / Math.max(1, samples.length))
}
