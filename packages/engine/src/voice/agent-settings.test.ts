import { afterEach, describe, expect, it } from 'vitest'
import { AudioHarness, find } from '../testing/audio-harness.ts'
import { draftOf, greeter, planOf } from '../testing/drafts.ts'
import { dialogueOptions } from './dialogue-options.ts'
import type { VoiceAgent } from './voice-agent.ts'

let call: AudioHarness | null = null

afterEach(async () => {
  call?.caller.hangUp()
  await call?.pass(200)
  call = null
})

function optionsWith(settings: NonNullable<typeof greeter.settings>) {
  return dialogueOptions({ plan: planOf({ ...greeter, settings }) } as VoiceAgent)
}

it('the turn machine gets the backchannel settings of the agent', () => {
  const settings = { enableBackchannel: true, backchannelFrequency: 0.25, backchannelWords: ['yeah', 'right'] }
  expect(optionsWith(settings).backchannel).toEqual({ enabled: true, frequency: 0.25, words: ['yeah', 'right'] })
})

it('the recogniser gets the boosted keywords of the agent', async () => {
  call = await AudioHarness.open({ draft: { ...greeter, settings: { boostedKeywords: ['Parley', 'Ana'] } } })
  await call.until(() => call!.recogniser.opened.length > 0, 3000, 'the recogniser is open')
  expect(call.recogniser.keywords).toEqual(['Parley', 'Ana'])
})

const PRICE = 'Parley costs $12.50 until 3:30 pm, Dr. Bell.'

function pricing(settings: NonNullable<typeof greeter.settings>) {
  return draftOf(
    [
      { id: 'price', type: 'conversation', instruction: { type: 'static_text', text: PRICE } },
      { id: 'end', type: 'end' },
    ],
    { settings },
  )
}

describe('the text that the voice is given', () => {
  const dictionary = [{ word: 'Parley', alphabet: 'ipa', phoneme: 'ˈpɑːli' }] as const

  it('numbers and abbreviations are written out with normalizeForSpeech, words respelled by the pronunciationDictionary, and the transcript holds what the agent wrote', async () => {
    const settings = { normalizeForSpeech: true, pronunciationDictionary: [...dictionary], voiceTemperature: 0.4 }
    call = await AudioHarness.open({ draft: pricing(settings), agent: { preparesHoldingLines: false } })
    await call.until(() => call!.voice.synthesized.length > 0, 3000, 'the voice was asked')
    expect(call.voice.synthesized).toEqual([
      'pah-lee costs twelve dollars and fifty cents until three thirty P M, Doctor Bell.',
    ])
    expect(call.voice.temperature).toBe(0.4)
    await call.pass(6000)
    call.caller.hangUp()
    await call.until(() => call!.report !== null, 3000, 'the call is over')
    expect(call.report!.utterances.map(({ text }) => text)).toEqual([PRICE])
  })

  it('a caller who interrupts inside a price has heard the written words up to there', async () => {
    call = await AudioHarness.open({
      draft: pricing({ normalizeForSpeech: true }),
      agent: { preparesHoldingLines: false },
    })
    await call.until(() => call!.voice.synthesized.length > 0, 3000, 'the voice was asked')
    // "Parley costs twelve dollars and fifty cents until three …": 300 ms each.
    await call.pass(2700)
    call.caller.hangUp()
    await call.until(() => call!.report !== null, 3000, 'the call is over')
    expect(call.report!.utterances[0]!.text).toMatch(/^Parley costs \$12\.50( until)?$/)
  })

  it('the text is given as it is written without these settings', async () => {
    call = await AudioHarness.open({ draft: pricing({}), agent: { preparesHoldingLines: false } })
    await call.until(() => call!.voice.synthesized.length > 0, 3000, 'the voice was asked')
    expect(call.voice.synthesized).toEqual([PRICE])
    expect(call.voice.temperature).toBeNull()
  })
})

it('the recogniser gets the sttMode and the vocabSpecialization of the agent', async () => {
  call = await AudioHarness.open({
    draft: { ...greeter, settings: { sttMode: 'accurate', vocabSpecialization: 'medical' } },
  })
  await call.until(() => call!.recogniser.opened.length > 0, 3000, 'the recogniser is open')
  expect(call.recogniser.recognition).toEqual({ mode: 'accurate', vocabulary: 'medical' })
})

describe('ambientSound', () => {
  /** RMS of what the caller hears in a second of silence between the agent's words. */
  async function heardInSilence(settings: NonNullable<typeof greeter.settings>): Promise<number> {
    const draft = draftOf([{ id: 'hi', type: 'conversation', instruction: { type: 'static_text', text: 'Yes?' } }], {
      settings,
    })
    call = await AudioHarness.open({ draft })
    await call.until(() => call!.items.some(({ kind }) => kind === 'state'), 3000, 'the call runs')
    await call.pass(3000)
    const heard = new Int16Array(16_000)
    while (call.caller.readHeard(heard) > 0);
    await call.pass(1000)
    const count = call.caller.readHeard(heard)
    expect(count).toBeGreaterThan(7000)
    return Math.sqrt(heard.subarray(0, count).reduce((sum, sample) => sum + sample * sample, 0) / count)
  }

  it('a caller hears it in silence, as loud as ambientSoundVolume says', async () => {
    expect(await heardInSilence({})).toBeLessThan(10)
    const usual = await heardInSilence({ ambientSound: 'static-noise' })
    expect(usual).toBeGreaterThan(300)
    const quiet = await heardInSilence({ ambientSound: 'static-noise', ambientSoundVolume: 0.5 })
    expect(quiet / usual).toBeGreaterThan(0.4)
    expect(quiet / usual).toBeLessThan(0.6)
  })

  /** RMS of what the caller hears beside the agent's own sound. */
  async function heardBesideSpeech(settings: NonNullable<typeof greeter.settings>): Promise<number> {
    const words = 'How can I help you on this fine day?'
    const node = { id: 'hi', type: 'conversation', instruction: { type: 'static_text', text: words } } as const
    call = await AudioHarness.open({ draft: draftOf([node], { settings }) })
    await call.pass(4000)
    const sound = call.voice.sound(words)
    const { at, likeness } = find(call.heard(), sound)
    expect(likeness).toBeGreaterThan(0.9)
    const heard = call.heard().subarray(at, at + sound.length)
    return Math.sqrt(heard.reduce((sum, sample, i) => sum + (sample - sound[i]!) ** 2, 0) / sound.length)
  }

  it('a caller hears it under the words of the agent as well', async () => {
    const [without, beside] = [await heardBesideSpeech({}), await heardBesideSpeech({ ambientSound: 'static-noise' })]
    expect(beside).toBeGreaterThan(300)
    expect(beside).toBeGreaterThan(3 * without)
  })

  it('an unknown sound is silence', async () => {
    expect(await heardInSilence({ ambientSound: 'ocean' })).toBeLessThan(10)
  })
})
