import type { AudioFormat } from '@parley/kernel'
import { add, addClick, addTone, bandOfNoise, type Canvas, canvas, syllables } from './sound-tools.ts'

/** Length of a loop; the end is faded into the beginning. */
const LOOP_SECONDS = 12
const FADE_SECONDS = 1
/** RMS level of a loop at a volume of 1. Speech is about 15 dB louder. */
const LEVEL_DBFS = -36

const PAINTERS = {
  'coffee-shop': (sound: Canvas) => {
    babble(sound, 5, 0.9)
    add(sound, bandOfNoise(sound, 250, 400), () => 0.25)
    for (let i = 0; i < 9; i++) addClick(sound, sound.random.uniform() * LOOP_SECONDS, 0.05, 1.2)
    for (let i = 0; i < 6; i++) ring(sound, 2100 + sound.random.uniform() * 900, 0.15, 0.5)
  },
  'convention-hall': (sound: Canvas) => {
    babble(sound, 14, 0.6)
    add(sound, bandOfNoise(sound, 180, 300), () => 0.5)
  },
  'summer-outdoor': (sound: Canvas) => {
    add(sound, bandOfNoise(sound, 300, 500), second => 0.25 + 0.1 * wave(second, 2))
    // Crickets: a high tone in quick pulses.
    add(sound, bandOfNoise(sound, 3000, 60), second => 0.7 * pulses(second, 22) * Math.max(0, wave(second, 5)))
    for (let i = 0; i < 5; i++) bird(sound, 2200)
  },
  'mountain-outdoor': (sound: Canvas) => {
    add(sound, bandOfNoise(sound, 200, 250), second => 0.7 + 0.5 * wave(second, 2))
    add(sound, bandOfNoise(sound, 700, 500), second => 0.25 + 0.25 * wave(second, 3))
    for (let i = 0; i < 3; i++) bird(sound, 1700)
  },
  'static-noise': (sound: Canvas) => {
    add(sound, bandOfNoise(sound, 900, 3000), () => 1)
  },
  'call-center': (sound: Canvas) => {
    babble(sound, 7, 0.7)
    add(sound, bandOfNoise(sound, 150, 200), () => 0.35)
    typing(sound)
    for (const second of [2.2, 2.7]) ring(sound, 1200, 0.3, 0.35, second)
  },
} as const

/** The ambient sounds that are generated here. */
type AmbientSound = keyof typeof PAINTERS

export const AMBIENT_SOUNDS = Object.keys(PAINTERS) as readonly AmbientSound[]

/** Loops that were generated, by sound and rate. */
const LOOPS = new Map<string, Int16Array>()

/**
 * The loop of an ambient sound in a format of mono audio, in shared memory so that media threads read it without a copy. It has an RMS of
 * -36 dBFS, no seam, and is the same in every process. Generated at first use.
 */
export function ambientLoop(sound: AmbientSound, { sampleRateHz }: AudioFormat): Int16Array {
  const key = `${sound} ${sampleRateHz}`
  const loop = LOOPS.get(key) ?? generate(sound, sampleRateHz)
  LOOPS.set(key, loop)
  return loop
}

function generate(sound: AmbientSound, rate: number): Int16Array {
  const fade = FADE_SECONDS * rate
  const length = LOOP_SECONDS * rate
  const painted = canvas(rate, length + fade, 1 + AMBIENT_SOUNDS.indexOf(sound))
  PAINTERS[sound](painted)
  const { samples } = painted
  for (let i = 0; i < fade; i++) {
    const share = (Math.PI / 2) * (i / fade)
    samples[i] = samples[i]! * Math.sin(share) + samples[length + i]! * Math.cos(share)
  }
  let power = 0
  for (let i = 0; i < length; i++) power += samples[i]! ** 2
  const gain = (32768 * 10 ** (LEVEL_DBFS / 20)) / Math.sqrt(power / length)
  const loop = new Int16Array(new SharedArrayBuffer(length * 2))
  for (let i = 0; i < length; i++) loop[i] = Math.max(-32768, Math.min(32767, Math.round(samples[i]! * gain)))
  return loop
}

/** Distant voices of which no word is understood. */
function babble(sound: Canvas, speakers: number, gain: number): void {
  const seconds = sound.samples.length / sound.rate
  const voices = [320, 450, 580, 710].map((formant, i) => {
    const lower = bandOfNoise(sound, formant, 120)
    const upper = bandOfNoise(sound, 1100 + 330 * i, 250)
    for (let at = 0; at < lower.length; at++) lower[at] = lower[at]! + 0.5 * upper[at]!
    return lower
  })
  for (let i = 0; i < speakers; i++) {
    const speaks = syllables(sound.random, seconds)
    add(sound, voices[i % voices.length]!, second => (gain * speaks(second)) / Math.sqrt(speakers))
  }
}

function typing(sound: Canvas): void {
  for (let at = 0.5; at < LOOP_SECONDS; at += sound.random.uniform() < 0.1 ? 1.5 : 0.09 + sound.random.uniform() * 0.12)
    addClick(sound, at, 0.02, 0.5)
}

function ring(sound: Canvas, hz: number, length: number, gain: number, second?: number): void {
  addTone(sound, { second: second ?? sound.random.uniform() * LOOP_SECONDS, length, fromHz: hz, toHz: hz, gain })
}

function bird(sound: Canvas, hz: number): void {
  const second = sound.random.uniform() * LOOP_SECONDS
  for (let note = 0; note < 3; note++)
    addTone(sound, { second: second + note * 0.18, length: 0.12, fromHz: hz, toHz: hz * 1.3, gain: 0.6 })
}

/** A slow wave of whole periods in the loop, -1 to 1. */
function wave(second: number, periods: number): number {
  return Math.sin((2 * Math.PI * periods * second) / LOOP_SECONDS)
}

function pulses(second: number, perSecond: number): number {
  return Math.max(0, Math.sin(2 * Math.PI * perSecond * second))
}
