import type { Draft } from '@parley/flow'
import { msToSamples, NARROWBAND } from '@parley/kernel'
import type { TextToSpeech } from '@parley/providers'
import { ProviderError } from '@parley/providers/testing'
import { afterEach, expect, it } from 'vitest'
import { AudioHarness, find, type HarnessOptions, speaks } from '../testing/audio-harness.ts'
import { FingerprintVoice } from '../testing/scripted-speech.ts'
import { voiceSound } from '../testing/sounds.ts'

/** Services that fail during a call, tested by what the caller hears. */

const GREETING = 'Welcome to the shop. What would you like to order?'

const draft: Draft = {
  name: 'Test',
  providers: {
    stt: { provider: 'simulated', model: 'tones-1' },
    llm: { provider: 'simulated_hosted', model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' } },
    tts: { provider: 'simulated', model: 'tones-1' },
  },
  flow: {
    start_node_id: 'hello',
    nodes: [
      { id: 'hello', type: 'conversation', instruction: { type: 'static_text', text: GREETING } },
      { id: 'end', type: 'end' },
    ],
  },
}

let stage: AudioHarness | null = null

async function open(options: Omit<HarnessOptions, 'draft'>): Promise<AudioHarness> {
  stage = await AudioHarness.open({ draft, ...options })
  await stage.until(() => stage!.timeline('state').length > 0, 3000, 'connected')
  return stage
}

afterEach(async () => {
  stage?.caller.hangUp()
  await stage?.pass(200)
  stage = null
})

/** A voice that fails after `sentences` sentences. */
function dyingVoice(sentences: number): TextToSpeech {
  const voice = new FingerprintVoice()
  let left = sentences
  return {
    id: 'test/dying',
    languages: ['en'],
    readiness: async () => null,
    async *synthesize(request, signal) {
      if (left-- <= 0) throw new ProviderError('voice_unreachable', 'the voice is gone', { retryable: true })
      yield* voice.synthesize(request, signal)
    },
    close: async () => {},
  }
}

const other = { voice: new FingerprintVoice(), language: 'en', voiceId: null }
const errors = (call: AudioHarness) => call.timeline('error').map(item => `${item.code} ${item.message}`)

it('when a voice fails during a speech, the next one says the rest without a gap in the text', async () => {
  const call = await open({ agent: { voice: dyingVoice(1), fallbackVoices: [other] } })
  await call.until(() => call.timeline('utterance').length === 1, 8000, 'greeted')
  expect(call.timeline('utterance')).toMatchObject([{ text: GREETING, interrupted: false }])
  const heard = call.heard()
  const first = find(heard, other.voice.sound('Welcome to the shop.'))
  const second = find(heard, other.voice.sound('What would you like to order?'))
  expect(first.likeness).toBeGreaterThan(0.95)
  expect(second.likeness).toBeGreaterThan(0.95)
  expect(second.at - first.at).toBeLessThan(msToSamples(4 * 300 + 100, NARROWBAND))
  expect(errors(call)).toEqual([
    'voice_unreachable the voice is gone (asked again)',
    'voice_unreachable the voice is gone (the next voice takes over)',
  ])
})

it('when no voice is left, the call ends after an apology by the voice of last resort', async () => {
  const call = await open({ agent: { voice: dyingVoice(0), lastResort: other } })
  await call.until(() => call.report !== null, 15_000, 'ended')
  expect(call.report!.run).toMatchObject({ state: 'failed', outcome: { kind: 'error', detail: 'provider_failed' } })
  expect(find(call.heard(), other.voice.sound('I am sorry, there is a technical problem.')).likeness).toBeGreaterThan(
    0.95,
  )
  expect(call.report!.utterances).toEqual([])
})

it('when there is no voice of last resort either, the call ends at once', async () => {
  const call = await open({ agent: { voice: dyingVoice(0) } })
  await call.until(() => call.report !== null, 3000, 'ended')
  expect(call.report!.run.outcome).toMatchObject({ detail: 'provider_failed' })
})

it('a recogniser that fails is reopened and gets the audio from meanwhile', async () => {
  const call = await open({ answers: [speaks('One pizza.')] })
  await call.until(() => call.timeline('utterance').length === 1, 8000, 'greeted')
  call.says('one pizza please')
  await call.pass(500)
  const lostAt = msToSamples(call.timeline('utterance')[0]!.end_ms!, NARROWBAND)
  call.recogniser.breaksForGood()
  expect(call.recogniser.opened).toHaveLength(2)
  // The reopened recogniser gets the audio from before the caller's first word.
  expect(call.recogniser.opened[1]!).toBeLessThan(lostAt + msToSamples(600, NARROWBAND))
  await call.until(() => call.timeline('utterance').length === 3, 8000, 'answered')
  expect(errors(call)).toEqual(['recogniser_failed the recogniser broke (connected again)'])
})

it('a recogniser that reconnects by itself is not reopened, and the timeline has the failure', async () => {
  const call = await open({ answers: [speaks('One pizza.')] })
  await call.until(() => call.timeline('utterance').length === 1, 8000, 'greeted')
  call.recogniser.breaksAndRecovers()
  call.says('one pizza please')
  await call.until(() => call.timeline('utterance').length === 3, 8000, 'answered')
  expect(call.recogniser.opened).toHaveLength(1)
  expect(errors(call)).toEqual(['recogniser_unreachable the connection was lost (connected again)'])
})

it('when a recogniser fails again at once, the call ends after an apology', async () => {
  const call = await open({ agent: { lastResort: other } })
  await call.until(() => call.timeline('utterance').length === 1, 8000, 'greeted')
  call.recogniser.breaksForGood()
  call.recogniser.breaksForGood()
  await call.until(() => call.report !== null, 15_000, 'ended')
  expect(call.report!.run.outcome).toMatchObject({ detail: 'provider_failed' })
  expect(find(call.heard(), other.voice.sound('I am sorry, there is a technical problem.')).likeness).toBeGreaterThan(
    0.95,
  )
})

it('a recogniser that stalls is reopened while the caller speaks, and the timeline has the failure', async () => {
  const call = await open({ answers: [speaks('One pizza.')] })
  await call.until(() => call.timeline('utterance').length === 1, 8000, 'greeted')
  call.recogniser.stalls()
  call.says('one pizza with olives please')
  await call.until(() => call.timeline('utterance').length === 3, 12_000, 'answered')
  expect(call.recogniser.opened).toHaveLength(2)
  expect(errors(call)).toEqual([
    'recogniser_failed the recogniser delivered no transcript although the caller speaks (connected again)',
  ])
})

it('12 s of voice without words reopen the recogniser once, and the timeline of the healthy call has no failure', async () => {
  const call = await open({})
  await call.until(() => call.timeline('utterance').length === 1, 8000, 'greeted')
  call.caller.play(voiceSound(12_000))
  await call.pass(12_000)
  expect(call.recogniser.opened).toHaveLength(2)
  expect(errors(call)).toEqual([])
  expect(call.report).toBe(null)
})

it('a recogniser that stalls between short answers is detected when the caller repeats one', async () => {
  const call = await open({})
  await call.until(() => call.timeline('utterance').length === 1, 8000, 'greeted')
  for (let says = 0; says < 2; says++) {
    call.caller.play(voiceSound(600))
    await call.pass(4000)
    // It answers finalize() with an empty transcript.
    expect(call.recogniser.finalizes).toBeGreaterThan(says)
  }
  expect(call.recogniser.opened).toHaveLength(2)
})

it('a recogniser that is mute for good ends the call at the third short answer', async () => {
  const call = await open({ agent: { lastResort: other } })
  await call.until(() => call.timeline('utterance').length === 1, 8000, 'greeted')
  for (let says = 0; says < 3; says++) {
    call.caller.play(voiceSound(900))
    await call.pass(10_000)
  }
  await call.until(() => call.report !== null, 15_000, 'ended')
  expect(call.report!.run.outcome).toMatchObject({ detail: 'provider_failed' })
})
