import { spawnSync } from 'node:child_process'
import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { decodePcmu, encodePcmu } from '../codec/g711.ts'
import { readWav } from '../recorder/wav-reader.ts'
import { ComfortNoise } from './comfort-noise.ts'
import { SyntheticSound } from './testing/synthetic-sound.ts'
import { VoiceActivity } from './voice-activity.ts'

interface Edge {
  readonly type: 'voice-start' | 'voice-end'
  readonly ms: number
  /** When it became known. */
  readonly knownMs: number
}

/** Hears `samples` in 20 ms packets after a trip through G.711. */
function edgesOf(samples: Int16Array, voice = new VoiceActivity(), packet = 160): Edge[] {
  const bytes = new Uint8Array(samples.length)
  const heard = new Int16Array(samples.length)
  encodePcmu(samples, 0, samples.length, bytes, 0)
  decodePcmu(bytes, 0, bytes.length, heard, 0)
  const edges: Edge[] = []
  for (let at = 0; at < heard.length; at += packet) {
    voice.push(at, heard, at, Math.min(packet, heard.length - at))
    for (let type = voice.take(); type !== null; type = voice.take())
      edges.push({ type, ms: voice.position / 8, knownMs: (at + packet) / 8 })
  }
  return edges
}

const starts = (edges: readonly Edge[]) => edges.filter(({ type }) => type === 'voice-start')
const within = (ms: number, wanted: number, tolerance: number) => Math.abs(ms - wanted) <= tolerance

describe('voice activity', () => {
  it.each([
    ['silence', null],
    ['noise of -70 dBFS', -70],
    ['noise of -50 dBFS', -50],
    ['noise of -35 dBFS', -35],
  ])('over %s, start and end of speech are detected to 20 ms, the start within 80 ms', (_, noise) => {
    const sound = new SyntheticSound(6000)
    if (noise !== null) sound.noise(0, 6000, noise, new SeededRandom(5))
    sound.vowel(2000, 2600, -20, { syllables: true }).vowel(3500, 4400, -22, { pitchHz: 190, syllables: true })
    const edges = edgesOf(sound.samples)
    expect(edges.map(({ type }) => type)).toEqual(['voice-start', 'voice-end', 'voice-start', 'voice-end'])
    for (const [i, ms] of [2000, 2600, 3500, 4400].entries()) {
      expect(within(edges[i]!.ms, ms, 20)).toBe(true)
      // Onset after 40 to 60 ms and up to a packet; the end after 200 ms of quiet.
      expect(edges[i]!.knownMs - ms).toBeLessThanOrEqual(i % 2 === 0 ? 80 : 240)
    }
  })

  it.each([-70, -60, -50, -40, -35])(
    '30 s of noise of %i dBFS with a sudden start are not detected as speech',
    level => {
      const sound = new SyntheticSound(32_000).noise(1000, 31_000, level, new SeededRandom(level + 100))
      expect(edgesOf(sound.samples)).toEqual([])
    },
  )

  it('intermittent comfort noise and mains hum are not detected as speech', () => {
    const noise = new ComfortNoise({ levelDbfs: -50 })
    const samples = new Int16Array(80_000)
    for (let at = 0; at + 8000 < samples.length; at += 12_000) noise.write(samples, at, 8000)
    expect(edgesOf(samples)).toEqual([])
    expect(edgesOf(new SyntheticSound(10_000).tones(500, 9500, -45, 50, 100, 150).samples)).toEqual([])
  })

  it('DTMF tones are not detected as speech', () => {
    const sound = new SyntheticSound(4000)
    const rows = [697, 770, 852, 941]
    const columns = [1209, 1336, 1477, 1633]
    for (let digit = 0; digit < 16; digit++)
      sound.tones(100 + digit * 200, 200 + digit * 200, -12, rows[digit >> 2]!, columns[digit & 3]!)
    expect(edgesOf(sound.samples)).toEqual([])
  })

  it('a constant tone stops being detected as speech', () => {
    const edges = edgesOf(new SyntheticSound(8000).tones(1000, 7000, -20, 440, 480).samples)
    expect(edges.map(({ type }) => type)).toEqual(['voice-start', 'voice-end'])
    expect(edges[1]!.knownMs).toBeLessThan(4000)
  })

  it('pauses shorter than the hang-over are bridged, longer ones are not', () => {
    const sound = new SyntheticSound(4000).vowel(1000, 1500, -20).vowel(1680, 2200, -20).vowel(2600, 3000, -20)
    expect(starts(edgesOf(sound.samples))).toHaveLength(2)
    expect(starts(edgesOf(sound.samples, new VoiceActivity({ hangoverMs: 100 })))).toHaveLength(3)
    expect(starts(edgesOf(sound.samples, new VoiceActivity({ hangoverMs: 600 })))).toHaveLength(1)
  })

  it('an unvoiced beginning is part of the word', () => {
    const sound = new SyntheticSound(3000).noise(1000, 1120, -32, new SeededRandom(9)).vowel(1120, 1700, -20)
    const [start] = starts(edgesOf(sound.samples))
    expect(within(start!.ms, 1000, 20)).toBe(true)
  })

  it('voice activity does not depend on the size of packets', () => {
    const { samples } = new SyntheticSound(3000).vowel(1000, 1700, -25, { syllables: true })
    const positions = (packet: number) =>
      edgesOf(samples, new VoiceActivity(), packet).map(({ type, ms }) => [type, ms])
    for (const packet of [37, 80, 240, 480]) expect(positions(packet)).toEqual(positions(160))
  })

  it('phrases of a real voice and the pauses between them are detected', ({ skip }) => {
    const phraseAudio = [
      'Hello, this is a test of the telephone.',
      'Seven, three, nine.',
      'Thank you and goodbye.',
    ].map(espeak)
    if (phraseAudio.includes(null)) skip('espeak-ng is not installed')
    const phrases = phraseAudio as Int16Array[]
    // Weak first sounds ("th", "s") drown in noise: then the word begins with its vowel.
    for (const [noiseLevel, onsetTolerance] of [
      [-75, 100],
      [-45, 260],
    ] as const) {
      const sound = new SyntheticSound(20_000).noise(0, 20_000, noiseLevel, new SeededRandom(11))
      const places: [number, number][] = []
      let at = 8000
      for (const phrase of phrases) {
        for (let i = 0; i < phrase.length; i++) sound.samples[at + i]! += phrase[i]! * 0.5
        places.push([at / 8, (at + phrase.length) / 8])
        at += phrase.length + 8000
      }
      const edges = edgesOf(sound.samples, new VoiceActivity({ hangoverMs: 500 }))
      expect(edges).toHaveLength(2 * phrases.length)
      for (const [i, [from, until]] of places.entries()) {
        expect(within(edges[2 * i]!.ms, from, onsetTolerance)).toBe(true)
        expect(within(edges[2 * i + 1]!.ms, until, 120)).toBe(true)
      }
    }
  })
})

/** One phrase at 8 kHz without the silence around it; null when there is no espeak-ng. */
function espeak(text: string): Int16Array | null {
  const run = spawnSync('espeak-ng', ['--stdout', text], { maxBuffer: 1 << 24 })
  if (run.error !== undefined || run.status !== 0) return null
  const { channels, sampleRate } = readWav(run.stdout)
  const source = channels[0]!
  const ratio = sampleRate / 8000
  const samples = Int16Array.from({ length: Math.floor(source.length / ratio) }, (_, i) => {
    // Mean over the samples that one of 8 kHz spans: low-pass enough for level and pitch.
    const from = Math.floor(i * ratio)
    const until = Math.max(from + 1, Math.floor((i + 1) * ratio))
    return source.subarray(from, until).reduce((sum, sample) => sum + sample, 0) / (until - from)
  })
  const loud = (sample: number) => Math.abs(sample) > 300
  return samples.slice(samples.findIndex(loud), samples.findLastIndex(loud))
}
