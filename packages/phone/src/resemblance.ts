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
  const found: { score: number; offset: number }[] = []
  for (let i = 0; i < PIECES; i++) {
    const from = start + i * PIECE_STEP
    const piece = a.subarray(from, Math.min(from + PIECE, a.length))
    if (piece.length < PIECE / 2) break
    const best = bestPosition(piece, b)
    found.push({ score: scoreBetweenSamples(piece, heard, best), offset: best.at - from })
  }
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

function bestPosition(piece: Float32Array, within: Float32Array): { score: number; at: number } {
  const pieceEnergy = energy(piece, 0, piece.length)
  let windowEnergy = energy(within, 0, piece.length)
  let best = { score: 0, at: 0 }
  for (let at = 0; at + piece.length <= within.length; at++) {
    let dot = 0
    for (let i = 0; i < piece.length; i++) dot += piece[i]! * within[at + i]!
    const score = dot / Math.sqrt(Math.max(pieceEnergy * windowEnergy, 1e-9))
    if (score > best.score) best = { score, at }
    windowEnergy += (within[at + piece.length] ?? 0) ** 2 - within[at]! ** 2
  }
  return best
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
    if (window.length === piece.length) best = Math.max(best, bestPosition(piece, window).score)
  }
  return best
}

function energy(samples: Float32Array, from: number, count: number): number {
  let sum = 0
  for (let i = from; i < Math.min(from + count, samples.length); i++) sum += samples[i]! ** 2
  return sum
}

/** Root mean square, 0 to 1. */
export function loudness(samples: Int16Array): number {
  let sum = 0
  for (const sample of samples) sum += (sample / 32768) ** 2
  return Math.sqrt(sum / Math.max(1, samples.length))
}
