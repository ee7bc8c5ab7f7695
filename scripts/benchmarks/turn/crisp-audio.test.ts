import { VoiceActivity } from '@parley/media'
import { PhoneVoice } from '@parley/phone'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { toneBandFilter } from '@parley/providers/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { crispEnd, crispEndWithTones, crispStart } from './crisp-audio.ts'
import { CALLER_LINES } from './script.ts'
import { AUDIBLE_PEAK } from './turn-meter.ts'

const voice = new TonesVoice()
const renderings = new Map<string, Int16Array>()
beforeAll(async () => {
  const phone = new PhoneVoice(voice, 'en')
  for (const text of CALLER_LINES) renderings.set(text, await phone.render(text))
})
afterAll(() => voice.close())

const lastAudible = (audio: Int16Array) => audio.findLastIndex(sample => Math.abs(sample) >= AUDIBLE_PEAK)

/** A caller's line followed by a second of silence, and the position of its last audible sample. */
function lineWithSilence(text: string, cut = crispEnd): { readonly audio: Int16Array; readonly end: number } {
  const line = cut(renderings.get(text)!)
  const audio = new Int16Array(line.length + 8000)
  audio.set(line)
  return { audio, end: lastAudible(line) }
}

describe.each(CALLER_LINES)('the caller’s line "%s"', text => {
  it('the line ends at the same time for voice activity and for the turn meter, and has no pause that would end the turn', () => {
    const { audio, end } = lineWithSilence(text)
    const filter = toneBandFilter()
    const speech = new Int16Array(audio.length)
    filter.filter(audio, 0, audio.length, speech, 0)
    expectOneTurn(speech, -filter.delay, end)
  })

  it('the line ends at the same time for an engine that counts the tones as voice', () => {
    const { audio, end } = lineWithSilence(text, crispEndWithTones)
    expectOneTurn(audio, 0, end)
  })

  it.each([
    ['', crispEnd],
    [', with the tones that go on after it', crispEndWithTones],
  ])('a recogniser understands all words of the line within 200 ms of its end%s', (_, cut) => {
    const { audio, end } = lineWithSilence(text, cut)
    const stream = new TonesRecogniser().open({ language: 'en' })
    let understood = ''
    stream.onEvent(event => {
      if (event.type === 'partial') understood = event.text
    })
    for (let at = 0; at < end + 200 * 8; at += 160) stream.write(audio.subarray(at, at + 160), at)
    expect(understood).toBe(text)
  })
})

/** Expects that voice activity on `speech` (from position `from`) ends within 12 ms of `end`, without a pause that would end a turn. */
function expectOneTurn(speech: Int16Array, from: number, end: number): void {
  const activity = new VoiceActivity({ hangoverMs: 80 })
  activity.push(from, speech, 0, speech.length - 160)
  const edges: { edge: string; at: number }[] = []
  for (let edge = activity.take(); edge !== null; edge = activity.take()) edges.push({ edge, at: activity.position })
  expect(Math.abs(edges.at(-1)!.at - end) / 8).toBeLessThanOrEqual(12)
  edges.slice(1, -1).forEach(({ edge, at }, i) => {
    if (edge === 'voice-start') expect((at - edges[i]!.at) / 8).toBeLessThan(200)
  })
}

describe('an agent’s answer without leading silence', () => {
  it('the answer is audible from its first sample', () => {
    for (const rendering of renderings.values()) {
      expect(Math.abs(crispStart(rendering)[0]!)).toBeGreaterThanOrEqual(AUDIBLE_PEAK)
      expect(rendering.length - crispStart(rendering).length).toBeGreaterThan(100)
    }
    expect(crispStart(new Int16Array(50))).toHaveLength(50)
    expect(() => crispEnd(new Int16Array(50))).toThrow('nothing in this audio is audible')
  })
})
