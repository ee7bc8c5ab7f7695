import type { UsageReport } from '@parley/conversation'
import { afterEach, expect, it } from 'vitest'
import { AudioHarness, type HarnessOptions } from '../testing/audio-harness.ts'
import { GREETING, greeter } from '../testing/drafts.ts'
import { FingerprintVoice } from '../testing/scripted-speech.ts'

/** Usage of a call as its services would bill it. */

let stage: AudioHarness | null = null

async function open(options: Omit<HarnessOptions, 'draft'> = {}): Promise<AudioHarness> {
  stage = await AudioHarness.open({ draft: greeter, ...options })
  await stage.until(() => stage!.timeline('state').length > 0, 3000, 'connected')
  return stage
}

async function hangUp(call: AudioHarness): Promise<void> {
  call.caller.hangUp()
  await call.until(() => call.report !== null, 1000, 'over')
}

afterEach(async () => {
  stage?.caller.hangUp()
  await stage?.pass(200)
  stage = null
})

const sum = (call: AudioHarness, meter: UsageReport['meter']) =>
  call.used.filter(used => used.meter === meter).reduce((total, { quantity }) => total + quantity, 0)

it('the metering of a call counts every character sent to a voice, heard or not', async () => {
  const call = await open()
  await call.pass(1000)
  await hangUp(call)
  expect(call.timeline('utterance')[0]!.text.length).toBeLessThan(GREETING.length)
  expect(call.used.filter(({ meter }) => meter === 'tts_characters')).toEqual([
    { meter: 'tts_characters', provider: 'test', model_id: 'fingerprint', quantity: GREETING.length },
  ])
})

it('the metering of a call counts the audio sent to the recogniser, during the call and at its end', async () => {
  const call = await open()
  const from = call.now
  await call.pass(12_000)
  const early = sum(call, 'stt_ms')
  expect(early).toBeGreaterThanOrEqual(10_000)
  await hangUp(call)
  const lasted = call.now - from
  expect(sum(call, 'stt_ms')).toBeGreaterThan(lasted - 200)
  expect(sum(call, 'stt_ms')).toBeLessThan(lasted + 500)
  expect(call.used.find(({ meter }) => meter === 'stt_ms')).toMatchObject({ provider: 'test', model_id: 'scripted' })
})

it('the metering of a call counts audio again that is sent again to a reopened recogniser', async () => {
  const call = await open()
  await call.pass(2000)
  call.recogniser.breaksForGood()
  await call.pass(1000)
  await hangUp(call)
  expect(call.recogniser.opened).toHaveLength(2)
  expect(sum(call, 'stt_ms')).toBeGreaterThan(4500)
})

it('the metering of a call counts the characters of each voice separately', async () => {
  const dead = { ...new FingerprintVoice(), id: 'test/dead', languages: ['en'] }
  const voice = {
    ...dead,
    readiness: async () => null,
    // biome-ignore lint/correctness/useYield: it fails before the first chunk.
    async *synthesize({ text, onSent }: { text: string; onSent?: (characters: number) => void }) {
      onSent?.(text.length)
      throw new Error('gone')
    },
    close: async () => {},
  }
  const fallbackVoices = [{ voice: new FingerprintVoice(), language: 'en', voiceId: null }]
  const call = await open({ agent: { voice, fallbackVoices } })
  await call.pass(500)
  await hangUp(call)
  const by = Map.groupBy(call.used, ({ model_id }) => model_id)
  expect(by.get('dead')).toMatchObject([{ meter: 'tts_characters', quantity: GREETING.length }])
  expect(by.get('fingerprint')).toMatchObject([{ meter: 'tts_characters', quantity: GREETING.length }])
})

it('the metering of a call has counted the usage of models when the call is reported', async () => {
  const call = await open({
    answers: [
      () => [
        { type: 'text', delta: 'Of course.' },
        { type: 'usage', inputTokens: 100, outputTokens: 3, cachedInputTokens: 0 },
      ],
    ],
  })
  await call.until(() => call.timeline('utterance').length === 1, 9000, 'heard out')
  call.says('one pizza please')
  await call.until(() => call.timeline('utterance').length === 3, 9000, 'answered')
  await hangUp(call)
  expect([sum(call, 'llm_input_tokens'), sum(call, 'llm_output_tokens')]).toEqual([100, 3])
})
