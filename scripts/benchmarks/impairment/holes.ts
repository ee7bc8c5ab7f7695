import {
  type AudioFormat,
  type Ms,
  msToSamples,
  type Samples,
  samplesToMs,
} from '../../../packages/kernel/src/index.ts'

/** A silent line has at most this. */
const SILENT = 2
/** Shorter stretches without sound are zero crossings and closures. */
const SHORTEST_MS: Ms = 8
/** RMS of speech in the undamaged call that must not become silence: -45 dBov. */
const SPEECH_RMS = 184
/** Largest difference of the times at which both calls heard the utterance. */
const MOST_SHIFT_MS: Ms = 160
const FRAME_MS: Ms = 10
const LONG_MS: Ms = 40
/** The correlation looks at every fourth sample. */
const STRIDE = 4

/** Silence where the undamaged call has speech. */
interface Holes {
  /** In all, ms. */
  readonly ms: Ms
  /** Longest one, ms. */
  readonly longestMs: Ms
  /** Of more than 40 ms. */
  readonly long: number
}

/** Compares an utterance as it was heard with the same one as an undamaged call heard it. */
export function findHoles(clean: Int16Array, heard: Int16Array, format: AudioFormat): Holes {
  const shift = shiftBetween(clean, heard, msToSamples(MOST_SHIFT_MS, format))
  const frame = msToSamples(FRAME_MS, format)
  let ms = 0
  let longestMs = 0
  let long = 0
  for (const { from, until } of silences(heard, msToSamples(SHORTEST_MS, format))) {
    let lost = 0
    for (let at = from; at < until; at += frame) {
      const end = Math.min(at + frame, until)
      if (rms(clean, at - shift, end - shift) >= SPEECH_RMS) lost += samplesToMs(end - at, format)
    }
    ms += lost
    longestMs = Math.max(longestMs, lost)
    if (lost > LONG_MS) long++
  }
  return { ms, longestMs, long }
}

/** Duration of speech in an utterance, in frames of 10 ms. */
export function speechMs(clean: Int16Array, format: AudioFormat): Ms {
  const frame = msToSamples(FRAME_MS, format)
  let frames = 0
  for (let at = 0; at + frame <= clean.length; at += frame) if (rms(clean, at, at + frame) >= SPEECH_RMS) frames++
  return FRAME_MS * frames
}

/** How much later `heard` has what `clean` has, by their correlation. */
function shiftBetween(clean: Int16Array, heard: Int16Array, most: Samples): Samples {
  let best = 0
  let highest = Number.NEGATIVE_INFINITY
  for (let shift = -most; shift <= most; shift++) {
    let sum = 0
    const from = Math.max(0, -shift)
    const until = Math.min(clean.length, heard.length - shift)
    for (let i = from; i < until; i += STRIDE) sum += clean[i]! * heard[i + shift]!
    if (sum <= highest) continue
    highest = sum
    best = shift
  }
  return best
}

function silences(audio: Int16Array, shortest: Samples): { readonly from: Samples; readonly until: Samples }[] {
  const found: { from: Samples; until: Samples }[] = []
  let from = 0
  for (let i = 0; i <= audio.length; i++) {
    if (i < audio.length && Math.abs(audio[i]!) <= SILENT) continue
    if (i - from >= shortest) found.push({ from, until: i })
    from = i + 1
  }
  return found
}

function rms(audio: Int16Array, from: Samples, until: Samples): number {
  let sum = 0
  for (let i = Math.max(0, from); i < Math.min(audio.length, until); i++) sum += audio[i]! ** 2
  return Math.sqrt(sum / Math.max(1, until - from))
}
