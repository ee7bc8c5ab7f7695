/** The discrete Fourier transform of complex numbers in place (radix 2). Allocates nothing after construction. */
export class FourierTransform {
  /** For each place of the input in its order, where `run` expects it. */
  readonly places: Uint16Array
  readonly #size: number
  readonly #cosine: Float64Array
  readonly #sine: Float64Array

  /** `size`: a power of two, 2 to 65,536. */
  constructor(size: number) {
    this.#size = size
    this.places = new Uint16Array(size)
    for (let i = 1; i < size; i++) this.places[i] = (this.places[i >> 1]! >> 1) | ((i & 1) === 1 ? size >> 1 : 0)
    this.#cosine = Float64Array.from({ length: size / 2 }, (_, i) => Math.cos((2 * Math.PI * i) / size))
    this.#sine = Float64Array.from({ length: size / 2 }, (_, i) => Math.sin((2 * Math.PI * i) / size))
  }

  /** Takes `size` numbers at their `places`, real and imaginary parts; leaves their transform in order. */
  run(re: Float64Array, im: Float64Array): void {
    const cosine = this.#cosine
    const sine = this.#sine
    for (let half = 1; half < this.#size; half *= 2) {
      const step = this.#size / (2 * half)
      for (let from = 0; from < this.#size; from += 2 * half) {
        for (let i = 0; i < half; i++) {
          const c = cosine[i * step]!
          const s = sine[i * step]!
          const a = from + i
          const b = a + half
          const r = re[b]! * c + im[b]! * s
          const j = im[b]! * c - re[b]! * s
          re[b] = re[a]! - r
          im[b] = im[a]! - j
          re[a] = re[a]! + r
          im[a] = im[a]! + j
        }
      }
    }
  }
}
