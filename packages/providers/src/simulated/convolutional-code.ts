/** A convolutional code of rate 1/3 and constraint length 7 that begins and ends in state 0; decoded by the Viterbi algorithm. */
const STATES = 64
const HALF = STATES / 2
/** Soft values are weighed as whole numbers: a sum of a few hundred of at most some units is far from the limit of 32 bits. */
const SCALE = 4096
const IMPOSSIBLE = -(2 ** 28)
export const TAIL_BITS = 6
export const CODED_PER_BIT = 3
const GENERATORS = [0o133, 0o171, 0o165] as const

/** Coded bits by register: the newest bit in the highest place, then the six before it. The first generator's bit is the highest. */
const OUTPUT = Uint8Array.from({ length: 2 * STATES }, (_, register) => {
  let out = 0
  for (const generator of GENERATORS) out = 2 * out + parity(register & generator)
  return out
})

/** Three coded bits for each of `bits`, which end with the tail of zeros. */
export function encodeConvolutional(bits: Uint8Array): Uint8Array {
  const coded = new Uint8Array(CODED_PER_BIT * bits.length)
  let state = 0
  for (let i = 0; i < bits.length; i++) {
    const register = (bits[i]! << TAIL_BITS) | state
    const out = OUTPUT[register]!
    for (let j = 0; j < CODED_PER_BIT; j++) coded[CODED_PER_BIT * i + j] = (out >> (CODED_PER_BIT - 1 - j)) & 1
    state = register >> 1
  }
  return coded
}

/** Finds the bits whose code agrees best with soft values. Its memory for `maxBits` is reused. */
export class ViterbiDecoder {
  /** Agreement of the last path with the soft values, as a share of the greatest possible. */
  agreement = 0
  readonly #cameFrom: Uint8Array
  readonly #score = [new Int32Array(STATES), new Int32Array(STATES)] as const
  readonly #branch = new Int32Array(1 << CODED_PER_BIT)

  constructor(maxBits: number) {
    this.#cameFrom = new Uint8Array(STATES * maxBits)
  }

  /** `soft[3i…3i+2]`: positive for 0, negative for 1; the magnitude is the confidence. Writes `count` bits, including the tail. */
  decode(soft: Float32Array, count: number, bits: Uint8Array): void {
    let [from, to] = this.#score
    from.fill(IMPOSSIBLE)
    from[0] = 0
    let greatest = 1e-9
    for (let i = 0; i < count; i++) {
      greatest += this.#weighBranches(soft, CODED_PER_BIT * i)
      this.#step(from, to, STATES * i)
      ;[from, to] = [to, from]
    }
    this.agreement = from[0]! / greatest
    for (let i = count - 1, state = 0; i >= 0; i--) {
      bits[i] = state >> (TAIL_BITS - 1)
      state = ((state << 1) & (STATES - 1)) | this.#cameFrom[STATES * i + state]!
    }
  }

  #weighBranches(soft: Float32Array, at: number): number {
    const a = Math.round(SCALE * soft[at]!)
    const b = Math.round(SCALE * soft[at + 1]!)
    const c = Math.round(SCALE * soft[at + 2]!)
    for (let out = 0; out < this.#branch.length; out++) {
      this.#branch[out] = (out & 4 ? -a : a) + (out & 2 ? -b : b) + (out & 1 ? -c : c)
    }
    return Math.abs(a) + Math.abs(b) + Math.abs(c)
  }

  /**
   * State: the last six bits, newest highest. Two states that differ in the newest bit have the same two predecessors, which differ in
   * the oldest. All generators have both these bits, so that changing one of them turns the coded bits round.
   */
  #step(from: Int32Array, to: Int32Array, trace: number): void {
    const branch = this.#branch
    const cameFrom = this.#cameFrom
    for (let state = 0, even = 0; state < HALF; state++, even += 2) {
      const weight = branch[OUTPUT[even]!]!
      const fromEven = from[even]!
      const fromOdd = from[even + 1]!
      // Which path is better cannot be predicted: the greater one is chosen by arithmetic. The mask has all bits if it is the even one.
      const more0 = (fromOdd - fromEven - 2 * weight) | 0
      const more1 = (fromOdd - fromEven + 2 * weight) | 0
      const mask0 = (more0 - 1) >> 31
      const mask1 = (more1 - 1) >> 31
      to[state] = (fromEven + weight + (more0 & ~mask0)) | 0
      to[state + HALF] = (fromEven - weight + (more1 & ~mask1)) | 0
      cameFrom[trace + state] = mask0 + 1
      cameFrom[trace + state + HALF] = mask1 + 1
    }
  }
}

function parity(value: number): number {
  let odd = 0
  for (let rest = value; rest !== 0; rest &= rest - 1) odd ^= 1
  return odd
}
