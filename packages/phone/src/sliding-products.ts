import { FourierTransform } from '@parley/media'

/** Length of one transform: a piece of half a second at 2 kHz and what it is compared with. A power of two. */
const BLOCK = 8192

const TRANSFORM = new FourierTransform(BLOCK)

/** Complex numbers, `BLOCK` of them. */
class Spectrum {
  readonly re = new Float64Array(BLOCK)
  readonly im = new Float64Array(BLOCK)
}

/** Replaces the numbers, which are in order, by their transform. */
function transform({ re, im }: Spectrum): void {
  const { places } = TRANSFORM
  for (let i = 0; i < BLOCK; i++) {
    const place = places[i]!
    if (i >= place) continue
    const [real, imaginary] = [re[i]!, im[i]!]
    re[i] = re[place]!
    im[i] = im[place]!
    re[place] = real
    im[place] = imaginary
  }
  TRANSFORM.run(re, im)
}

/**
 * The conjugate spectrum of `even` plus i times that of `odd`: two pieces for one transform back, whose products are then its real and its
 * imaginary part.
 */
function filterOf(even: Float32Array, odd: Float32Array | undefined): Spectrum {
  const filter = new Spectrum()
  const other = new Spectrum()
  filter.re.set(even)
  transform(filter)
  if (odd !== undefined) other.re.set(odd)
  transform(other)
  for (let k = 0; k < BLOCK; k++) {
    filter.re[k] = filter.re[k]! + other.im[k]!
    filter.im[k] = other.re[k]! - filter.im[k]!
  }
  return filter
}

/** `block` times `filter` as the input of the transform back, which is a transform of the conjugate. */
function multiply(block: Spectrum, filter: Spectrum, out: Spectrum): void {
  for (let k = 0; k < BLOCK; k++) {
    out.re[k] = block.re[k]! * filter.re[k]! - block.im[k]! * filter.im[k]!
    out.im[k] = -(block.re[k]! * filter.im[k]! + block.im[k]! * filter.re[k]!)
  }
}

/**
 * The sum of products of each piece with `within` at every position where the piece lies inside (cross-correlation), by transforms of
 * overlapping blocks (overlap-save). Pieces have at most half of `BLOCK` samples; a position is in samples.
 */
export function slidingProducts(pieces: readonly Float32Array[], within: Float32Array): Float64Array[] {
  const longest = Math.max(1, ...pieces.map(piece => piece.length))
  if (longest > BLOCK / 2) throw new RangeError(`a piece has ${longest} samples, and at most ${BLOCK / 2} are compared`)
  const products = pieces.map(piece => new Float64Array(Math.max(0, within.length - piece.length + 1)))
  const filters: Spectrum[] = []
  for (let i = 0; i < pieces.length; i += 2) filters.push(filterOf(pieces[i]!, pieces[i + 1]))
  const block = new Spectrum()
  const back = new Spectrum()
  const hop = BLOCK - longest + 1
  for (let from = 0; from < within.length; from += hop) {
    block.re.fill(0)
    block.im.fill(0)
    block.re.set(within.subarray(from, from + BLOCK))
    transform(block)
    for (const [pair, filter] of filters.entries()) {
      multiply(block, filter, back)
      transform(back)
      for (const [odd, part] of [back.re, back.im].entries()) {
        const out = products[2 * pair + odd]
        if (out === undefined) continue
        const scale = odd === 0 ? 1 / BLOCK : -1 / BLOCK
        const count = Math.min(hop, out.length - from)
        for (let i = 0; i < count; i++) out[from + i] = part[i]! * scale
      }
    }
  }
  return products
}
