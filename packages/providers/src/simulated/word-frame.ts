import { CODED_PER_BIT, encodeConvolutional, TAIL_BITS, ViterbiDecoder } from './convolutional-code.ts'
import { pieceOfBits, type WordPiece, wordBits } from './word-code.ts'

/**
 * One word as symbols. Word, checksum and tail are convolutionally coded; the coded bits are interleaved, so that a burst
 * error hits no neighbours, and become the real and imaginary halves of QPSK symbols. Every third symbol, from the first
 * on, is a pilot of known phase, by which the receiver finds the frame, its phase and level, and damaged parts. No part
 * of the frame is indispensable.
 */
const PAYLOAD_BITS = [15, 25, 35, 45, 60, 80, 120] as const
const CRC_BITS = 14
/** CRC-14/DARC with an initial value of ones. */
const CRC_POLYNOMIAL = 0x0805
const MAX_INFO_BITS = PAYLOAD_BITS.at(-1)! + CRC_BITS + TAIL_BITS
const GOLDEN = 0.381966

export const PILOT_EVERY = 3
/** Pilots of the shortest frame, with which all frames begin. Their autocorrelation sidelobes are at most 3 of 27. */
export const SYNC_PILOTS = 27
const PILOTS = pilotSigns()

/** Dimensions of a frame, by the number of its payload bits. */
interface FrameSize {
  readonly payloadBits: number
  readonly infoBits: number
  readonly symbols: number
  /** Index of coded bit i among the halves of the data symbols. */
  readonly positions: Uint16Array
}

export const FRAME_SIZES: readonly FrameSize[] = PAYLOAD_BITS.map(payloadBits => {
  const infoBits = payloadBits + CRC_BITS + TAIL_BITS
  const codedBits = CODED_PER_BIT * infoBits
  const dataSymbols = Math.ceil(codedBits / 2)
  const pilots = Math.ceil(dataSymbols / (PILOT_EVERY - 1))
  return { payloadBits, infoBits, symbols: dataSymbols + pilots, positions: interleaving(codedBits) }
})
export const MAX_FRAME = FRAME_SIZES.at(-1)!

/** Real value of a pilot, +1 or -1. */
export function pilot(index: number): number {
  return PILOTS[index]!
}

/** The symbols of a word's frames, real and imaginary parts alternating, each symbol of magnitude 1. A word of more than 22 letters takes several. */
export function framesOfWord(word: string): Float32Array[] {
  return wordBits(word, MAX_FRAME.payloadBits).map(frameOfBits)
}

function frameOfBits(bits: readonly number[]): Float32Array {
  const size = FRAME_SIZES.find(({ payloadBits }) => payloadBits >= bits.length)!
  const info = new Uint8Array(size.infoBits)
  info.set(bits)
  const crc = crcOf(info, size.payloadBits)
  for (let i = 0; i < CRC_BITS; i++) info[size.payloadBits + i] = (crc >> (CRC_BITS - 1 - i)) & 1
  const coded = encodeConvolutional(info)
  const symbols = new Float32Array(2 * size.symbols)
  for (let i = 0; i < size.symbols; i++) {
    if (i % PILOT_EVERY === 0) symbols[2 * i] = pilot(i / PILOT_EVERY)
    // A half that no coded bit uses keeps the symbol's magnitude.
    else symbols.fill(Math.SQRT1_2, 2 * i, 2 * i + 2)
  }
  for (let i = 0; i < coded.length; i++) if (coded[i] === 1) symbols[halfAt(size.positions[i]!)] = -Math.SQRT1_2
  return symbols
}

/** Decodes words from received symbols. Its memory is reused. */
export class FrameReader {
  readonly #viterbi = new ViterbiDecoder(MAX_INFO_BITS)
  readonly #soft = new Float32Array(CODED_PER_BIT * MAX_INFO_BITS)
  readonly #bits = new Uint8Array(MAX_INFO_BITS)
  readonly #confidence = new Float32Array(PILOTS.length + 1)

  /** `symbols` of `framesOfWord`, rotated and scaled by the line; they are corrected in place. Null: no valid word. */
  read(symbols: Float32Array, size: FrameSize): WordPiece | null {
    if (!this.#correctPhase(symbols, size)) return null
    for (let i = 0; i < size.positions.length; i++) {
      const half = halfAt(size.positions[i]!)
      const value = Math.max(-CLIP, Math.min(CLIP, symbols[half]!))
      this.#soft[i] = value * this.#confidence[Math.floor((half >> 1) / PILOT_EVERY)]!
    }
    this.#viterbi.decode(this.#soft, size.infoBits, this.#bits)
    if (this.#viterbi.agreement < MIN_AGREEMENT) return null
    let crc = 0
    for (let i = 0; i < CRC_BITS; i++) crc = 2 * crc + this.#bits[size.payloadBits + i]!
    if (crc !== crcOf(this.#bits, size.payloadBits)) return null
    return pieceOfBits(this.#bits, size.payloadBits)
  }

  /** Corrects phase and level by the pilots, and estimates the confidence of each stretch between two of them. */
  #correctPhase(symbols: Float32Array, size: FrameSize): boolean {
    const pilots = Math.ceil(size.symbols / PILOT_EVERY)
    let re = 0
    let im = 0
    for (let j = 0; j < pilots; j++) {
      re += pilot(j) * symbols[2 * PILOT_EVERY * j]!
      im += pilot(j) * symbols[2 * PILOT_EVERY * j + 1]!
    }
    const power = (re * re + im * im) / pilots
    if (power < 1e-9) return false
    for (let i = 0; i < 2 * size.symbols; i += 2) {
      const [a, b] = [symbols[i]!, symbols[i + 1]!]
      symbols[i] = (a * re + b * im) / power
      symbols[i + 1] = (b * re - a * im) / power
    }
    const match = (j: number) => pilot(j) * symbols[2 * PILOT_EVERY * j]!
    for (let j = 0; j < pilots; j++) {
      const both = (match(j) + match(Math.min(j + 1, pilots - 1))) / 2
      this.#confidence[j] = Math.max(MIN_CONFIDENCE, Math.min(1, both))
    }
    return true
  }
}

/** Larger halves of a symbol are clipped as noise. Undisturbed halves are 0.7. */
const CLIP = 1.4
const MIN_CONFIDENCE = 0.05
/** Least agreement of a decoded word; noise alone reaches about 0.6, and the checksum rejects it. */
const MIN_AGREEMENT = 0.55

/** Index among the halves of all symbols of a half among those of the data symbols. */
function halfAt(position: number): number {
  const dataSymbol = position >> 1
  const symbol = dataSymbol + Math.floor(dataSymbol / (PILOT_EVERY - 1)) + 1
  return 2 * symbol + (position & 1)
}

function crcOf(bits: Uint8Array, count: number): number {
  const mask = (1 << CRC_BITS) - 1
  let crc = mask
  for (let i = 0; i < count; i++) {
    const top = (crc >> (CRC_BITS - 1)) ^ bits[i]!
    crc = (crc << 1) & mask
    if (top === 1) crc ^= CRC_POLYNOMIAL
  }
  return crc
}

/** Interleaving in steps of about 0.38 of the whole: neighbouring coded bits are far apart in the frame, and the reverse. */
function interleaving(count: number): Uint16Array {
  let step = Math.round(count * GOLDEN)
  while (greatestCommonDivisor(step, count) !== 1) step++
  return Uint16Array.from({ length: count }, (_, i) => (i * step) % count)
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}

function pilotSigns(): Int8Array {
  const sync = '010011011010100000111000110'
  const count = Math.ceil((CODED_PER_BIT * MAX_INFO_BITS) / 2 / (PILOT_EVERY - 1))
  // The pilots after the synchronising ones come from a maximal-length shift register (x^7 + x + 1).
  let register = 0x5a
  return Int8Array.from({ length: count }, (_, i) => {
    if (i < SYNC_PILOTS) return sync[i] === '1' ? 1 : -1
    register = ((register << 1) & 0x7f) | (((register >> 6) ^ register) & 1)
    return register & 1 ? 1 : -1
  })
}
