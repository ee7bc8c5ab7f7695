import type { Draft } from '@parley/flow'
import { msToSamples, NARROWBAND, samplesToMs } from '@parley/kernel'
import { afterEach, expect, it } from 'vitest'
import { AudioHarness, find, type HarnessOptions, lastAudible, speaks } from '../testing/audio-harness.ts'
import { WORD_MS } from '../testing/scripted-speech.ts'

/** A speech-to-speech model in place of recogniser, model and voice, tested by what the caller hears. */

const GREETING = 'Welcome to the shop.'
const LONG = 'We have pizza with olives and pizza with ham and pizza with cheese and bread.'

const draft: Draft = {
  name: 'Test',
  providers: {
    stt: { provider: 'simulated', model: 'tones-1' },
    llm: { provider: 'hosted', model: { model_id: 'realtime', provider: 'test', tier: 'frontier' } },
    tts: { provider: 'simulated', model: 'tones-1' },
  },
  actions: [{ action_id: 'order', kind: 'http', name: 'order', method: 'POST', url: 'https://shop.test/' }],
  flow: {
    start_node_id: 'hello',
    nodes: [
      {
        id: 'hello',
        type: 'conversation',
        instruction: { type: 'static_text', text: GREETING },
        edges: [
          {
            id: 'done',
            transition_condition: { type: 'prompt', prompt: 'The caller is done' },
            destination_node_id: 'bye',
          },
        ],
      },
      { id: 'bye', type: 'end', speak_during_execution: true, instruction: { type: 'prompt', text: 'Say goodbye.' } },
    ],
  },
}

let stage: AudioHarness | null = null

async function open(realtime: HarnessOptions['realtime'] & object, options: Omit<HarnessOptions, 'draft'> = {}) {
  stage = await AudioHarness.open({ draft, realtime, ...options })
  const call = stage
  await call.until(() => call.timeline('utterance').length === 1, 8000, 'greeted')
  return call
}

afterEach(async () => {
  stage?.caller.hangUp()
  await stage?.pass(200)
  stage = null
})

const lines = (call: AudioHarness) => call.timeline('utterance').map(({ role, text }) => `${role}: ${text}`)
const likeness = (call: AudioHarness, sound: Int16Array) => find(call.heard(), sound).likeness

it("the caller hears the greeting by the agent's voice and the answer by the model itself", async () => {
  const call = await open([{ says: 'One pizza it is.' }])
  expect(call.voice.synthesized).toEqual([GREETING])
  call.says('one pizza please')
  await call.until(() => call.timeline('utterance').length === 3, 8000, 'answered')
  expect(lines(call)).toEqual([`agent: ${GREETING}`, 'user: one pizza please', 'agent: One pizza it is.'])
  expect(likeness(call, call.realtime.sound('One pizza it is.'))).toBeGreaterThan(0.95)
  expect(call.voice.synthesized).toEqual([GREETING])
  expect(call.realtime.requests[0]).toMatchObject({ spoken: true })
  expect(call.realtime.heard).toEqual([{ ms: 4 * WORD_MS, text: 'One pizza it is.' }])
})

it('the model chooses the next step of the flow by a function call', async () => {
  const call = await open([{ calls: { name: 'go_1', arguments: {} } }, { says: 'Goodbye then.' }])
  call.says('that is all')
  await call.until(() => call.report !== null, 15_000, 'ended')
  expect(call.report!.run.outcome).toMatchObject({ kind: 'completed' })
  expect(lines(call).at(-1)).toBe('agent: Goodbye then.')
  expect(call.timeline('node').map(({ node_id }) => node_id)).toEqual(['hello', 'bye'])
})

it('an interruption stops the sound at once, and the model gets what was played of its answer', async () => {
  const call = await open([{ says: LONG }, { says: 'With olives.' }])
  call.says('what do you have')
  await call.until(() => likeness(call, call.realtime.sound('We have')) > 0.9, 8000, 'began to answer')
  await call.pass(2000)
  call.says('stop the one with olives')
  await call.until(() => call.timeline('interruption').length > 0, 4000, 'interrupted')
  const stopped = lastAudible(call.heard())
  await call.until(() => lines(call).at(-1) === 'agent: With olives.', 9000, 'answered')
  const [cut] = call.realtime.heard
  const { text, interrupted, start_ms, end_ms } = call.timeline('utterance')[2]!
  expect(interrupted).toBe(true)
  expect(LONG.startsWith(text)).toBe(true)
  expect(text.length).toBeLessThan(LONG.length)
  expect(cut).toEqual({ ms: end_ms! - start_ms!, text })
  // The words that count as heard fit the audio that was played.
  expect(Math.abs(text.split(' ').length * WORD_MS - cut!.ms)).toBeLessThanOrEqual(WORD_MS)
  expect(samplesToMs(stopped, NARROWBAND)).toBeLessThan(end_ms! + 200)
  const remembered = call.realtime.requests[1]!.messages.filter(({ role }) => role === 'assistant')
  expect(remembered.at(-1)!.content).toBe(`${text} —`)
})

it('audio of the model is resampled for a wideband call', async () => {
  const call = await open([{ says: 'One pizza it is.' }], { codecs: ['G722'] })
  call.says('one pizza please')
  await call.until(() => call.timeline('utterance').length === 3, 8000, 'answered')
  expect(call.realtime.heard[0]!.ms).toBeGreaterThanOrEqual(4 * WORD_MS - 20)
  expect(lastAudible(call.heard())).toBeGreaterThan(msToSamples(1000, NARROWBAND))
})

it('when the session fails in the middle of an answer, recogniser, model and voice of the agent take over', async () => {
  const call = await open([{ says: 'One pizza', breaks: true }], { answers: [speaks('Anything else?')] })
  call.says('one pizza please')
  await call.until(() => call.timeline('error').length > 0, 8000, 'failed')
  call.recogniser.breaksForGood()
  await call.pass(6000)
  call.says('with olives please')
  await call.until(() => lines(call).at(-1) === 'agent: Anything else?', 9000, 'answered by the fallback')
  expect(call.voice.synthesized.at(-1)).toBe('Anything else?')
  expect(call.recogniser.opened.length).toBe(2)
  expect(call.timeline('error').map(({ code }) => code)).toEqual(['model_unreachable', 'recogniser_failed'])
  expect(call.report).toBe(null)
})

it('an answer that the session cannot give is given by the fallback model in the same turn', async () => {
  const call = await open([], { answers: [speaks('One pizza it is.')] })
  call.realtime.isOver = true
  call.says('one pizza please')
  await call.until(() => call.timeline('utterance').length === 3, 8000, 'answered')
  expect(lines(call).at(-1)).toBe('agent: One pizza it is.')
  expect(call.voice.synthesized).toEqual([GREETING, 'One pizza it is.'])
})

it('the model is not asked ahead of the end of a turn, and its session ends with the call', async () => {
  const call = await open([{ says: 'One pizza it is.' }])
  call.says('one pizza please')
  await call.until(() => call.timeline('utterance').length === 3, 8000, 'answered')
  expect(call.realtime.requests).toHaveLength(1)
  call.caller.hangUp()
  await call.until(() => call.report !== null, 1000, 'over')
  expect(call.report!.preemptive).toMatchObject({ asked: 0 })
  expect(call.realtime.isOver).toBe(true)
})
