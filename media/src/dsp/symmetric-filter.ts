/** Outputs that are computed at once: each sum alone waits for its last addition. */
export const TOGETHER = 4

/**
 * `count` successive outputs of a filter whose taps are symmetric and odd in number, to the beginning of `sums`. `line[from]`: the oldest
 * sample of the first output's window; each other window begins a sample later than the one before. Sums and line have room for whole
 * groups of four outputs. Allocates nothing.
 */
export function filterSymmetric(
  taps: Float64Array,
  line: Float64Array,
  from: number,
  count: number,
  sums: Float64Array,
): void {
  const half = taps.length >> 1
  const middle = taps[half]!
  for (let done = 0, at = from; done < count; done += TOGETHER, at += TOGETHER) {
    let a = middle * line[at + half]!
    let b = middle * line[at + half + 1]!
    let c = middle * line[at + half + 2]!
    let d = middle * line[at + half + 3]!
    // From one tap to the next the windows move by one sample: of four samples on each side three are at hand.
    let left = at
    let right = at + taps.length - 1
    let l0 = line[left]!
    let l1 = line[left + 1]!
    let l2 = line[left + 2]!
    let l3 = line[left + 3]!
    let r0 = line[right]!
    let r1 = line[right + 1]!
    let r2 = line[right + 2]!
    let r3 = line[right + 3]!
    let k = 0
    for (; k + TOGETHER <= half; k += TOGETHER, left += TOGETHER, right -= TOGETHER) {
      let tap = taps[k]!
      a += tap * (l0 + r0)
      b += tap * (l1 + r1)
      c += tap * (l2 + r2)
      d += tap * (l3 + r3)
      tap = taps[k + 1]!
      l0 = line[left + 4]!
      r3 = line[right - 1]!
      a += tap * (l1 + r3)
      b += tap * (l2 + r0)
      c += tap * (l3 + r1)
      d += tap * (l0 + r2)
      tap = taps[k + 2]!
      l1 = line[left + 5]!
      r2 = line[right - 2]!
      a += tap * (l2 + r2)
      b += tap * (l3 + r3)
      c += tap * (l0 + r0)
      d += tap * (l1 + r1)
      tap = taps[k + 3]!
      l2 = line[left + 6]!
      r1 = line[right - 3]!
      a += tap * (l3 + r1)
      b += tap * (l0 + r2)
      c += tap * (l1 + r3)
      d += tap * (l2 + r0)
      l3 = line[left + 7]!
      r0 = line[right - 4]!
    }
    for (; k < half; k++, left++, right--) {
      const tap = taps[k]!
      a += tap * (line[left]! + line[right]!)
      b += tap * (line[left + 1]! + line[right + 1]!)
      c += tap * (line[left + 2]! + line[right + 2]!)
      d += tap * (line[left + 3]! + line[right + 3]!)
    }
    sums[done] = a
    sums[done + 1] = b
    sums[done + 2] = c
    sums[done + 3] = d
  }
}
