import { msToSamples, NARROWBAND, SeededRandom } from '@parley/kernel'
import { VoiceActivity } from '@parley/media'
import { describe, expect, it } from 'vitest'
import { PITCH_WINDOW, pitchOf } from './pitch.ts'
import type { Prosody } from './protocol.ts'
import { SpeechProsody } from './speech-prosody.ts'

/** A voice of 20 harmonics: pitch and level by time, ms from its beginning. */
function voice(lengthMs: number, hz: (ms: number) => number, db: (ms: number) => number): Int16Array {
  const samples = new Int16Array(lengthMs * 8)
  let phase = 0
  for (let i = 0; i < samples.length; i++) {
    const pitch = hz(i / 8)
    phase += pitch / 8000
    let value = 0
    for (let h = 1; h <= 20 && h * pitch < 3400; h++) value += Math.sin(2 * Math.PI * h * phase) / h
    samples[i] = Math.round(value * 6000 * 10 ** (db(i / 8) / 20))
  }
  return samples
}

const FROM = 1000
/** An hour into the call. */
const CLOCK = msToSamples(3_600_000, NARROWBAND)

/** Prosody of `speech` with a second of silence on both sides; edges are reported late. */
function measure(speech: Int16Array, packet = 160, lateMs = 200): Prosody | null {
  const line = new Int16Array(msToSamples(FROM, NARROWBAND) + speech.length + 8000)
  line.set(speech, msToSamples(FROM, NARROWBAND))
  const prosody = new SpeechProsody()
  const onset = CLOCK + msToSamples(FROM, NARROWBAND)
  const end = onset + speech.length
  let started = false
  for (let at = 0; at < line.length; at += packet) {
    prosody.push(CLOCK + at, line, at, Math.min(packet, line.length - at))
    const now = CLOCK + at + packet
    if (!started && now >= onset + msToSamples(60, NARROWBAND)) {
      started = true
      prosody.voiceStarted(onset)
    }
    if (started && now >= end + msToSamples(lateMs, NARROWBAND)) return prosody.voiceStopped(end)
  }
  return null
}

describe('the pitch of a voice', () => {
  it.each([70, 95, 120, 155, 200, 260, 330, 390])('a pitch of %i Hz is estimated to a quarter of a semitone', hz => {
    const window = voice(
      100,
      () => hz,
      () => 0,
    ).slice(0, PITCH_WINDOW)
    expect(Math.abs(12 * Math.log2(pitchOf(window)! / hz))).toBeLessThan(0.25)
  })

  it('noise, silence and direct current have no pitch', () => {
    const random = new SeededRandom(3)
    const bytes = random.bytes(PITCH_WINDOW * 2)
    expect(pitchOf(Int16Array.from({ length: PITCH_WINDOW }, (_, i) => (bytes[2 * i]! - 128) * 50))).toBeNull()
    expect(pitchOf(new Int16Array(PITCH_WINDOW))).toBeNull()
    expect(pitchOf(new Int16Array(PITCH_WINDOW).fill(5000))).toBeNull()
  })
})

describe('prosody at the end of a stretch of voice', () => {
  const flat = () => 0

  it('a voice of constant level and pitch shows no fall', () => {
    const { energyFallDb, pitchFallSemitones } = measure(voice(2000, () => 140, flat))!
    expect(Math.abs(energyFallDb)).toBeLessThan(0.5)
    expect(Math.abs(pitchFallSemitones!)).toBeLessThan(0.3)
  })

  it('a voice that is 10 dB fainter in its last 200 ms shows that energy fall', () => {
    const { energyFallDb } = measure(
      voice(
        2000,
        () => 140,
        ms => (ms < 1800 ? 0 : -10),
      ),
    )!
    expect(energyFallDb).toBeGreaterThan(9)
    expect(energyFallDb).toBeLessThan(10.2)
  })

  it.each([
    ['down', 120, 4],
    ['up', 200, -5],
  ])('a voice that ends %s in pitch, at %i Hz, shows that fall of pitch', (_, last, semitones) => {
    const { pitchFallSemitones } = measure(voice(2000, ms => (ms < 1700 ? 150 : last), flat))!
    expect(Math.abs(pitchFallSemitones! - semitones)).toBeLessThan(0.5)
  })

  it('the pitch fall is measured on the last voiced sound before a hiss', () => {
    const bytes = new SeededRandom(5).bytes(8000)
    const sound = voice(1500, ms => (ms < 1200 ? 180 : 150), flat)
    const speech = new Int16Array(sound.length + msToSamples(120, NARROWBAND))
    speech.set(sound)
    for (let i = sound.length; i < speech.length; i++) speech[i] = (bytes[i % 8000]! - 128) * 20
    expect(Math.abs(measure(speech)!.pitchFallSemitones! - 12 * Math.log2(180 / 150))).toBeLessThan(0.6)
  })

  it('prosody does not depend on the size of packets', () => {
    const speech = voice(
      1500,
      ms => 200 - ms / 20,
      ms => -ms / 150,
    )
    const [one, ...others] = [160, 80, 240, 480].map(packet => measure(speech, packet))
    for (const other of others) expect(other).toEqual(one)
  })

  it('an unvoiced stretch has no pitch fall; a stretch that is too short or has a gap has no prosody', () => {
    const bytes = new SeededRandom(7).bytes(16_000)
    const hiss = Int16Array.from({ length: 8000 }, (_, i) => (bytes[i]! - 128) * 40)
    expect(measure(hiss)).toMatchObject({ pitchFallSemitones: null })
    expect(measure(voice(200, () => 140, flat))).toBeNull()
    const prosody = new SpeechProsody()
    prosody.push(0, hiss, 0, 8000)
    prosody.voiceStarted(0)
    prosody.push(90_000, hiss, 0, 1000)
    expect(prosody.voiceStopped(90_500)).toBeNull()
    expect(prosody.voiceStopped(90_500)).toBeNull()
  })

  it('prosody is measured between the edges that voice activity detects', () => {
    const speech = voice(
      1600,
      ms => (ms < 1300 ? 160 : 125),
      ms => (ms < 1300 ? 0 : -6),
    )
    const line = new Int16Array(8000 + speech.length + 8000)
    line.set(speech, 8000)
    const activity = new VoiceActivity()
    const prosody = new SpeechProsody()
    const measured: (Prosody | null)[] = []
    for (let at = 0; at < line.length; at += 160) {
      activity.push(at, line, at, 160)
      prosody.push(at, line, at, 160)
      for (let edge = activity.take(); edge !== null; edge = activity.take()) {
        if (edge === 'voice-start') prosody.voiceStarted(activity.position)
        else measured.push(prosody.voiceStopped(activity.position))
      }
    }
    expect(measured).toHaveLength(1)
    expect(measured[0]!.energyFallDb).toBeGreaterThan(4)
    expect(Math.abs(measured[0]!.pitchFallSemitones! - 12 * Math.log2(160 / 125))).toBeLessThan(1)
  })
})
