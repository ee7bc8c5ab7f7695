import { spawnSync } from 'node:child_process'
import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { readWav } from '../recorder/wav-reader.ts'
import { InBandDetector } from './in-band-detector.ts'
import { chords, murmur, toAudio } from './testing/speech-like.ts'
import { type DialledTone, heardIn, KEYPAD, ToneDialling } from './testing/tone-dialling.ts'

const TRIALS = 6

interface Row {
  readonly tone: Partial<DialledTone>
  /** Signal to noise, dB, over the whole band; none without. */
  readonly snrDb?: number
}

/** Share of all sixteen digits, wherever blocks fall, that is heard once and as what it is; and the other results. */
function heardShare({ tone, snrDb }: Row): {
  right: number
  wrong: number
  durationOffMs: number
  positionOffMs: number
} {
  const random = new SeededRandom(1)
  const result = { right: 0, wrong: 0, durationOffMs: 0, positionOffMs: 0 }
  for (const digit of KEYPAD) {
    for (let trial = 0; trial < TRIALS; trial++) {
      const line = new ToneDialling(0.3, random)
      const at = 400 + Math.floor(line.uniform() * 102)
      const dialled = { digit, onMs: 40, ...tone }
      line.dial(at, dialled)
      const { lowDbm0 = -10, highDbm0 = -10 } = dialled
      if (snrDb !== undefined) line.noise(10 * Math.log10(10 ** (lowDbm0 / 10) + 10 ** (highDbm0 / 10)) - snrDb)
      const heard = heardIn(line.audio())
      if (heard.length === 1 && heard[0]!.digit === digit) {
        result.right++
        result.durationOffMs = Math.max(result.durationOffMs, Math.abs(heard[0]!.durationMs - dialled.onMs))
        result.positionOffMs = Math.max(result.positionOffMs, Math.abs(heard[0]!.position - at) / 8)
      } else result.wrong += heard.length
    }
  }
  result.right /= KEYPAD.length * TRIALS
  return result
}

/** Both tones off by the same, by the opposite, and each alone. */
function offBy(share: number): Partial<DialledTone>[] {
  const directions = [
    [1, 1],
    [-1, -1],
    [1, -1],
    [-1, 1],
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ] as const
  return directions.map(([low, high]) => ({ lowOff: low * share, highOff: high * share }))
}

describe('a DTMF digit of 40 ms is detected exactly once', () => {
  it.each<[string, Row[]]>([
    [
      'at any level from -42 to 0 dBm0',
      [-42, -36, -25, -10, -3, 0].map(dbm0 => ({ tone: { lowDbm0: dbm0, highDbm0: dbm0 } })),
    ],
    ['with 8 dB of normal twist', [{ tone: { lowDbm0: -10, highDbm0: -18 } }]],
    ['with 4 dB of reverse twist', [{ tone: { lowDbm0: -14, highDbm0: -10 } }]],
    ['with either tone or both 1.5 % off', offBy(0.015).map(tone => ({ tone }))],
    ['at a signal to noise ratio of 15 dB', [{ tone: {}, snrDb: 15 }]],
  ])('%s', (_name, rows) => {
    for (const row of rows) {
      const { right, wrong, durationOffMs, positionOffMs } = heardShare(row)
      expect({ row, right, wrong }).toEqual({ row, right: 1, wrong: 0 })
      expect(durationOffMs).toBeLessThan(6)
      expect(positionOffMs).toBeLessThan(3)
    }
  })

  it('digits of 50 ms that are 1.5 % off, with 8 dB of twist or noise at 15 dB, are rarely missed', () => {
    const rows: Row[] = [
      ...offBy(0.015).flatMap(off => [
        { tone: { onMs: 50, lowDbm0: -10, highDbm0: -18, ...off } },
        { tone: { onMs: 50, ...off }, snrDb: 15 },
      ]),
      { tone: { onMs: 50, lowDbm0: -10, highDbm0: -18 }, snrDb: 15 },
      { tone: { onMs: 50, lowDbm0: -14, highDbm0: -10 }, snrDb: 15 },
    ]
    for (const row of rows) {
      const { right, wrong } = heardShare(row)
      expect(wrong).toBe(0)
      expect(right).toBeGreaterThan(0.95)
    }
  })
})

describe('no DTMF digit is detected', () => {
  it.each<[string, Row[]]>([
    [
      'in 23 ms, with or without noise',
      [{ tone: { onMs: 23 } }, { tone: { onMs: 15 } }, { tone: { onMs: 23 }, snrDb: 15 }],
    ],
    ['below -44 dBm0', [-44, -50].map(dbm0 => ({ tone: { lowDbm0: dbm0, highDbm0: dbm0, onMs: 100 } }))],
    ['beyond 10 dB of normal twist', [{ tone: { lowDbm0: -10, highDbm0: -20, onMs: 100 } }]],
    ['beyond 6 dB of reverse twist', [{ tone: { lowDbm0: -16, highDbm0: -10, onMs: 100 } }]],
    ['with either tone or both 3.5 % off', offBy(0.035).map(off => ({ tone: { onMs: 100, ...off } }))],
    [
      '3.5 % off in noise or with twist',
      offBy(0.035).flatMap(off => [
        { tone: { onMs: 100, ...off }, snrDb: 15 },
        { tone: { onMs: 100, ...off, lowDbm0: -10, highDbm0: -18 } },
        { tone: { onMs: 100, ...off, lowDbm0: -14, highDbm0: -10 } },
      ]),
    ],
  ])('%s', (_name, rows) => {
    for (const row of rows) {
      const { right, wrong } = heardShare(row)
      expect({ row, right, wrong }).toEqual({ row, right: 0, wrong: 0 })
    }
  })

  it('no digit is detected in single tones, call progress tones or fax tones', () => {
    const tones = [
      [697],
      [1477],
      [440, 480],
      [480, 620],
      [350, 440],
      [425],
      [950],
      [1400],
      [1800],
      [1004],
      [1100],
      [2100],
      [400, 450],
      [697, 852],
      [1209, 1477],
      [697, 1209, 1477],
      [697, 770, 1336],
    ]
    for (const frequencies of tones) {
      const line = new ToneDialling(3, new SeededRandom(2))
      for (const hz of frequencies) line.sine(4000, 1500, hz, -8)
      expect({ frequencies, heard: heardIn(line.audio()) }).toEqual({ frequencies, heard: [] })
    }
  })
})

describe('a dialled number', () => {
  function dialled(onMs: number, offMs: number, noiseDbm0: number | null): string {
    const line = new ToneDialling(((onMs + offMs) * 40) / 1000 + 0.2, new SeededRandom(3))
    const number = '0123456789*#ABCD00112233'
    for (const [i, digit] of [...number].entries())
      line.dial(801 + i * Math.round((onMs + offMs) * 8 + 1.7), { digit, onMs })
    if (noiseDbm0 !== null) line.noise(noiseDbm0)
    return heardIn(line.audio())
      .map(({ digit }) => digit)
      .join('')
  }

  it.each([
    [40, 50],
    [50, 50],
    [70, 65],
    [100, 100],
    [250, 80],
  ])('a number dialled with %i ms tones and %i ms gaps is detected digit by digit', (on, off) => {
    expect(dialled(on, off, null)).toBe('0123456789*#ABCD00112233')
    expect(dialled(on, off, -22)).toBe('0123456789*#ABCD00112233')
  })

  it('a drop-out of 10 ms does not split a digit', () => {
    for (let shift = 0; shift < 102; shift += 7) {
      const line = new ToneDialling(0.5, new SeededRandom(shift))
      line.dial(800 + shift, { digit: '5', onMs: 60 }).dial(800 + shift + 560, { digit: '5', onMs: 60 })
      const heard = heardIn(line.audio())
      expect(heard.map(({ digit }) => digit)).toEqual(['5'])
      expect(Math.abs(heard[0]!.durationMs - 125)).toBeLessThan(12)
    }
  })
})

it('a jump of the sample clock ends the current digit, and no digit is detected across it', () => {
  const audio = new ToneDialling(0.3, new SeededRandom(1)).dial(800, { digit: '5', onMs: 200 }).audio()
  const detector = new InBandDetector()
  detector.push(0, audio, 0, 1600)
  expect(detector.take()).toBe(false)
  detector.push(80_000, audio, 1600, 100)
  expect(detector.take()).toBe(true)
  expect([detector.digit, Math.abs(detector.durationMs - 100) < 15]).toEqual(['5', true])
  const short = new InBandDetector()
  for (let at = 0; at < 5; at++) short.push(at * 8000, audio, 900, 180)
  short.push(80_000, new Int16Array(800), 0, 800)
  expect(short.take()).toBe(false)
})

describe('talk-off: no digit in 10 minutes', () => {
  const minutes = 10 * 60

  it('10 minutes of synthetic voices and chords hold no digit', () => {
    const voice = murmur(minutes, new SeededRandom(4))
    expect(heardIn(toAudio(voice))).toEqual([])
    const babble = voice.map(
      (x, i) => (x + voice[(i + 1_234_567) % voice.length]! + voice[(i + 2_777_777) % voice.length]!) / 2,
    )
    expect(heardIn(toAudio(babble))).toEqual([])
    expect(heardIn(toAudio(chords(minutes / 5, new SeededRandom(5))))).toEqual([])
  })

  it('10 minutes of speech of eight voices hold no digit', ({ skip }) => {
    if (spawnSync('espeak-ng', ['--version']).status !== 0) skip('espeak-ng is not installed')
    let samples = 0
    for (const [i, voice] of ['en-us', 'en-us+f3', 'en-gb', 'de', 'fr', 'es', 'it+f2', 'pt+m3'].entries()) {
      const speech = spoken(voice, text(i))
      samples += speech.length
      const rms = Math.sqrt(speech.reduce((sum, x) => sum + x * x, 0) / speech.length)
      expect(rms).toBeGreaterThan(800)
      expect({ voice, heard: heardIn(speech) }).toEqual({ voice, heard: [] })
    }
    expect(samples / 8000).toBeGreaterThan(minutes)
  })
})

function text(seed: number): string {
  const random = new SeededRandom(seed + 10)
  const words =
    'hello your order number is nine eight seven zero one please hold the line we are calling about an appointment on ' +
    'Tuesday evening no thank you I would rather speak to somebody else oh really how much is that altogether ' +
    'pharmacy delivery insurance renewal who is there could you repeat this more slowly eleven fifteen'
  const list = words.split(' ')
  return Array.from(
    { length: 260 },
    (_, i) => list[random.bytes(1)[0]! % list.length]! + (i % 9 === 8 ? '.' : ''),
  ).join(' ')
}

/** Speech at 8 kHz: the program's own rate through a windowed sinc, one set of taps for each place between two samples. */
function spoken(voice: string, words: string): Int16Array {
  const run = spawnSync('espeak-ng', ['-v', voice, '-s', '150', '--stdout', words], { maxBuffer: 1 << 26 })
  const { sampleRate, channels } = readWav(run.stdout)
  const source = channels[0]!
  const step = sampleRate / 8000
  const reach = 24
  const taps = new Map<number, Float64Array>()
  const out = new Int16Array(Math.max(0, Math.floor((source.length - 2 * reach) / step)))
  for (let i = 0; i < out.length; i++) {
    const first = Math.ceil(i * step)
    const place = Math.round((first - i * step) * 160)
    const weights = taps.get(place) ?? sinc(place / 160, reach, step)
    taps.set(place, weights)
    let sum = 0
    for (let k = 0; k < 2 * reach; k++) sum += source[first + k]! * weights[k]!
    out[i] = Math.max(-32768, Math.min(32767, sum / step))
  }
  return out
}

function sinc(offset: number, reach: number, step: number): Float64Array {
  return Float64Array.from({ length: 2 * reach }, (_, k) => {
    const distance = k + offset - reach
    const x = (Math.PI * distance) / step
    return (x === 0 ? 1 : Math.sin(x) / x) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach))
  })
}
