import { TonesVoice } from '@parley/providers'
import { afterAll, describe, expect, it } from 'vitest'
import { PhoneVoice } from '../phone-voice.ts'
import { GapDetector } from './gap-detector.ts'

const tones = new TonesVoice()
afterAll(() => tones.close())

function gapsIn(audio: Int16Array, leastMs = 40) {
  const detector = new GapDetector(leastMs)
  for (let at = 0; at < audio.length; at += 160) detector.hear(audio.subarray(at, at + 160), at)
  return detector.gaps
}

const SPEECH = 'You have reached the clinic, which is open from eight to five. Which day? Or press 1, 2 or 3.'

describe('gaps in received speech', () => {
  it.each(['en', 'es'])('speech of the voice for %s without damage has no gap', async language => {
    expect(gapsIn(await new PhoneVoice(tones, language).render(SPEECH), 20)).toEqual([])
  })

  it.each([60, 100, 500])('a gap of %d ms inside a word is found with its place and length', async ms => {
    const speech = await new PhoneVoice(tones, 'en').render(SPEECH)
    const loudest = speech.reduce((best, sample, at) => (Math.abs(sample) > Math.abs(speech[best]!) ? at : best), 0)
    const broken = new Int16Array(speech.length + ms * 8)
    broken.set(speech.subarray(0, loudest))
    broken.set(speech.subarray(loudest), loudest + ms * 8)
    const gaps = gapsIn(broken)
    expect(gaps).toHaveLength(1)
    expect(Math.abs(gaps[0]!.startMs - loudest / 8)).toBeLessThan(8)
    expect(Math.abs(gaps[0]!.durationMs - ms)).toBeLessThan(10)
  })

  it('a pause between sentences is no gap', async () => {
    const speech = await new PhoneVoice(tones, 'en').render('Good morning.')
    const twice = new Int16Array(2 * speech.length + 2400)
    twice.set(speech)
    twice.set(speech, speech.length + 2400)
    expect(gapsIn(twice)).toEqual([])
  })
})
