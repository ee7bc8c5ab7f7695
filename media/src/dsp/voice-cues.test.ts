import { expect, it } from 'vitest'
import { CueWords, DECIMATED_WINDOW, VoiceCues } from './voice-cues.ts'

const FRAME = 80
const SMALLEST_NORMAL_FLOAT = 2 ** -126

function memory() {
  return {
    state: new Float64Array(CueWords.names.length),
    last: new Float32Array(FRAME),
    decimated: new Float32Array(DECIMATED_WINDOW),
  }
}

it('the cues pass sound through a one-pole high-pass', () => {
  const cues = memory()
  const voice = new VoiceCues(cues)
  let [lastIn, out] = [0, 0]
  for (let frame = 0; frame < 20; frame++) {
    const samples = Float32Array.from({ length: FRAME }, (_, i) =>
      Math.fround(0.3 * Math.sin(0.05 * (frame * FRAME + i)) + 0.1),
    )
    voice.push(samples)
    for (const [i, sample] of samples.entries()) {
      out = sample - lastIn + 0.9 * out
      lastIn = sample
      expect(cues.last[i]).toBeCloseTo(out, 6)
    }
  }
})

it('digital silence after sound leaves no numbers that are too small to be computed quickly', () => {
  const cues = memory()
  const voice = new VoiceCues(cues)
  voice.push(new Float32Array(FRAME).fill(0.5))
  for (let frame = 0; frame < 200; frame++) {
    voice.push(new Float32Array(FRAME))
    for (const value of [...cues.last, ...cues.decimated])
      expect(value === 0 || Math.abs(value) >= SMALLEST_NORMAL_FLOAT).toBe(true)
  }
  expect(new CueWords(cues.state)).toMatchObject({ lastIn: 0, lastOut: 0, level: -100 })
})
