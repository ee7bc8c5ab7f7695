import { SeededRandom } from '@parley/kernel'
import { expect, it } from 'vitest'
import { chords, murmur, toAudio } from '../dtmf/testing/speech-like.ts'
import { type CallToneEvent, CallTones } from './call-tones.ts'
import { SyntheticSound } from './testing/synthetic-sound.ts'

interface Found {
  readonly type: CallToneEvent
  readonly ms: number
  readonly hz: number
  readonly isolated: boolean
}

function tonesIn(samples: Int16Array): Found[] {
  const tones = new CallTones()
  const found: Found[] = []
  for (let at = 0; at < samples.length; at += 160) {
    tones.push(at, samples, at, Math.min(160, samples.length - at))
    for (let type = tones.take(); type !== null; type = tones.take())
      found.push({ type, ms: tones.position / 8, hz: tones.hz, isolated: tones.isIsolated })
  }
  return found
}

const types = (found: readonly Found[]) => found.map(({ type }) => type)

const noise = (samples: SyntheticSound, ms: number, dbfs: number) => samples.noise(0, ms, dbfs, new SeededRandom(7))

it.each([
  [[1000], 300],
  [[440], 500],
  [[850], 180],
  [[1400], 600],
  [[2000], 250],
  [[620], 400],
  [[350, 440], 400],
  [[440, 480], 400],
  [[850, 1150], 300],
])('a beep of %j Hz for %i ms is found with its start and end, in quiet and in noise 10 dB below it', (hz, ms) => {
  for (const level of [-20, -35]) {
    for (const noisy of [false, true]) {
      const sound = new SyntheticSound(2000).tones(500, 500 + ms, level, ...hz)
      const found = tonesIn((noisy ? noise(sound, 2000, level - 10) : sound).samples)
      expect({ hz, level, noisy, types: types(found) }).toMatchObject({ types: ['tone-started', 'tone-ended'] })
      expect(Math.abs(found[0]!.ms - 500)).toBeLessThan(35)
      expect(Math.abs(found[1]!.ms - 500 - ms)).toBeLessThan(45)
      expect(found[1]!.isolated).toBe(true)
    }
  }
})

it('a tone is found with the same times wherever it begins among the frames, also the shortest', () => {
  for (const [hz, ms] of [
    [1000, 140],
    [1000, 400],
    [440, 2000],
  ] as const) {
    const relative = [0, 20, 40, 60, 80, 100].map(late => {
      const sound = new SyntheticSound(3500).tones(500 + late, 500 + late + ms, -15, hz)
      return tonesIn(noise(sound, 3500, -40).samples).map(found => [found.type, Math.round((found.ms - late) / 10)])
    })
    expect(relative[0]).not.toEqual([])
    for (const found of relative) expect(found).toEqual(relative[0])
  }
})

it('the end of a beep is reported within 60 ms', () => {
  const sound = new SyntheticSound(2000).tones(500, 800, -15, 1000)
  const tones = new CallTones()
  for (let at = 0; at < sound.samples.length; at += 160) {
    tones.push(at, sound.samples, at, 160)
    for (let type = tones.take(); type !== null; type = tones.take())
      if (type === 'tone-ended') return expect((at + 160) / 8).toBeLessThanOrEqual(860)
  }
  expect.unreachable()
})

it.each([
  [913.8, 1370.6, 1776.7, 276],
  [985.2, 1428.5, 1776.7, 380],
  [985.2, 1370.6, 1776.7, 276],
])('the three tones %d, %d and %d Hz are special information', (first, second, third, ms) => {
  const sound = new SyntheticSound(2000)
    .tones(200, 200 + ms, -20, first)
    .tones(200 + ms, 200 + 2 * ms, -20, second)
    .tones(200 + 2 * ms, 200 + 3 * ms, -20, third)
  expect(types(tonesIn(noise(sound, 2000, -35).samples))).toContain('sit')
})

it.each<[readonly number[], number, CallToneEvent]>([
  [[440, 480], 2000, 'ringback'],
  [[425], 1000, 'ringback'],
  [[400, 450], 800, 'ringback'],
  [[1100], 500, 'fax'],
  [[2100], 2600, 'fax'],
])('%j Hz for %i ms is %s', (hz, ms, type) => {
  const sound = new SyntheticSound(4000).tones(500, 500 + ms, -20, ...hz)
  const found = types(tonesIn(noise(sound, 4000, -40).samples))
  expect(found).toContain(type)
  expect(found).not.toContain('sit')
})

it('vowels of constant pitch pass for a beep at most four times a minute, and speech and music never for SIT or fax', () => {
  const speech = tonesIn(toAudio(murmur(180, new SeededRandom(1)), -15))
  expect(speech.filter(({ isolated }) => isolated).length).toBeLessThanOrEqual(12)
  const music = tonesIn(toAudio(chords(120, new SeededRandom(2)), -15))
  expect([...speech, ...music].filter(({ type }) => type === 'sit' || type === 'fax')).toEqual([])
})

it('a jump of the sample clock ends a tone', () => {
  const sound = new SyntheticSound(1000).tones(0, 1000, -20, 1000)
  const tones = new CallTones()
  tones.push(0, sound.samples, 0, 4000)
  tones.push(80_000, sound.samples, 0, 800)
  const found: (CallToneEvent | null)[] = []
  for (let type = tones.take(); type !== null; type = tones.take()) found.push(type)
  expect(found).toEqual(['tone-started', 'tone-ended'])
})
