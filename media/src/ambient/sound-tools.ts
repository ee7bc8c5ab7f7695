import type { Samples } from '@parley/kernel'

/** A linear congruential generator (Numerical Recipes): the same noise from the same seed, cheap enough for every sample. */
class Noise {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** 0 to 1. */
  uniform(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) | 0
    return (this.#state >>> 0) / 0x1_0000_0000
  }
}

/** A sound under construction, -1 to 1, at `rate` samples per second. */
export interface Canvas {
  readonly rate: number
  readonly samples: Float64Array
  readonly random: Noise
}

export function canvas(rate: number, length: Samples, seed: number): Canvas {
  return { rate, samples: new Float64Array(length), random: new Noise(seed) }
}

/** White noise through a resonance at `hz` with a bandwidth of `width` Hz (two-pole filter), RMS about 1. */
export function bandOfNoise({ rate, samples, random }: Canvas, hz: number, width: number): Float64Array {
  const radius = Math.exp((-Math.PI * width) / rate)
  const turn = 2 * radius * Math.cos((2 * Math.PI * Math.min(hz, rate * 0.45)) / rate)
  const out = new Float64Array(samples.length)
  let [last, before, power] = [0, 0, 0]
  for (let i = 0; i < out.length; i++) {
    const next = random.uniform() * 2 - 1 + turn * last - radius * radius * before
    before = last
    last = next
    out[i] = next
    power += next * next
  }
  const scale = 1 / Math.sqrt(power / out.length)
  for (let i = 0; i < out.length; i++) out[i] = out[i]! * scale
  return out
}

/** Adds `sound`; `gain` says how loud it is, by the second. It is asked 200 times a second, with straight lines in between. */
export function add({ rate, samples }: Canvas, sound: Float64Array, gain: (second: number) => number): void {
  const block = rate / 200
  let next = gain(0)
  for (let from = 0; from < samples.length; from += block) {
    const begin = next
    next = gain((from + block) / rate)
    if (begin === 0 && next === 0) continue
    const step = (next - begin) / block
    const until = Math.min(from + block, samples.length)
    for (let i = from; i < until; i++) samples[i] = samples[i]! + sound[i]! * (begin + step * (i - from))
  }
}

/** Adds a tone from `second` on that fades out, gliding from `fromHz` to `toHz` over its `length` in seconds. */
export function addTone(
  { rate, samples }: Canvas,
  tone: { second: number; length: number; fromHz: number; toHz: number; gain: number },
): void {
  const { second, length, fromHz, toHz, gain } = tone
  const count = Math.round(length * rate)
  let phase = 0
  for (let i = 0; i < count; i++) {
    const share = i / count
    phase += (2 * Math.PI * (fromHz + (toHz - fromHz) * share)) / rate
    const at = (Math.round(second * rate) + i) % samples.length
    samples[at] = samples[at]! + gain * Math.sin(Math.PI * share) * Math.sin(phase)
  }
}

/** Adds a short burst of noise that fades out within `length` seconds: a key, a cup. */
export function addClick(canvas: Canvas, second: number, length: number, gain: number): void {
  const { rate, samples, random } = canvas
  const count = Math.round(length * rate)
  for (let i = 0; i < count; i++) {
    const at = (Math.round(second * rate) + i) % samples.length
    samples[at] = samples[at]! + gain * (random.uniform() * 2 - 1) * Math.exp((-5 * i) / count)
  }
}

/** How loud one distant speaker is: syllables of about a fifth of a second with pauses between the sentences. */
export function syllables(random: Noise, seconds: number): (second: number) => number {
  const spans: { from: number; until: number; gain: number }[] = []
  for (let at = random.uniform(); at < seconds; ) {
    const until = at + 0.12 + random.uniform() * 0.16
    spans.push({ from: at, until, gain: 0.4 + random.uniform() * 0.6 })
    at = until + (random.uniform() < 0.18 ? 0.4 + random.uniform() * 1.2 : 0.03)
  }
  let current = 0
  return second => {
    while (current < spans.length && second >= spans[current]!.until) current++
    const span = spans[current]
    if (span === undefined || second < span.from) return 0
    return span.gain * Math.sin((Math.PI * (second - span.from)) / (span.until - span.from))
  }
}
