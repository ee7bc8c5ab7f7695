import type { Draft } from '@parley/flow'
import { afterEach, expect, it } from 'vitest'
import { AudioHarness, type HarnessOptions } from '../testing/audio-harness.ts'

/** Keys that the caller presses, tested by what the agent does on a whole call. */

const key = (digits: string, to: string) => ({
  id: `key-${to}-${digits}`,
  transition_condition: {
    type: 'equation' as const,
    equations: [{ left: 'current_digits', operator: '==' as const, right: digits }],
  },
  destination_node_id: to,
})
const hears = (condition: string, to: string) => ({
  id: condition,
  transition_condition: { type: 'prompt' as const, prompt: condition },
  destination_node_id: to,
})

const draft: Draft = {
  name: 'Test',
  settings: { channels: ['phone'] },
  providers: {
    stt: { provider: 'simulated', model: 'tones-1' },
    llm: { provider: 'simulated_hosted', model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' } },
    tts: { provider: 'simulated', model: 'tones-1' },
  },
  flow: {
    start_node_id: 'day',
    nodes: [
      {
        id: 'day',
        type: 'conversation',
        instruction: {
          type: 'static_text',
          text: 'Which day would you like to come to the clinic for your appointment?',
        },
        edges: [key('1', 'book'), key('22', 'book'), hears('names a day', 'book')],
      },
      {
        id: 'book',
        type: 'conversation',
        instruction: { type: 'static_text', text: 'Shall I book it?' },
        edges: [key('1', 'end')],
      },
      { id: 'end', type: 'end' },
    ],
  },
}

let call: AudioHarness | null = null

async function open(options: Partial<HarnessOptions> = {}): Promise<AudioHarness> {
  call = await AudioHarness.open({ draft, ...options })
  await call.until(() => call!.timeline('state').length > 0, 3000, 'connected')
  return call
}

afterEach(async () => {
  call?.caller.hangUp()
  await call?.pass(200)
  call = null
})

const nodes = (of: AudioHarness) => of.timeline('node').map(item => item.node_id)

it('a key in a sentence acts at once, and its question is not asked again', async () => {
  const on = await open()
  await on.pass(1500)
  on.caller.sendDigits('1')
  await on.until(() => nodes(on).includes('book'), 700, 'moved')
  await on.until(() => on.timeline('utterance').length >= 2, 8000, 'asked the next question')
  expect(on.timeline('utterance').map(({ text, interrupted }) => [text, interrupted])).toEqual([
    [expect.stringMatching(/^Which day/), true],
    ['Shall I book it?', false],
  ])
  expect(on.timeline('digits')).toMatchObject([{ direction: 'in', digits: '1' }])
})

it('a key for one question does not answer the next', async () => {
  const on = await open({
    answers: [
      request => [
        {
          type: 'tool-call',
          call: {
            id: 'c',
            name: request.tools!.find(tool => tool.description === 'names a day')!.name,
            argumentsText: '{}',
          },
          arguments: {},
        },
      ],
    ],
  })
  await on.until(() => on.timeline('utterance').length === 1, 12_000, 'asked')
  // The first digit of "22", which the caller does not finish.
  on.caller.sendDigits('2')
  await on.pass(300)
  on.says('Tuesday')
  await on.until(() => nodes(on).includes('book'), 4000, 'moved')
  await on.pass(8000)
  expect(nodes(on)).toEqual(['day', 'book'])
  expect(on.timeline('digits')).toMatchObject([{ digits: '2' }])
})

it('keys are in the timeline when the call ends before they are complete', async () => {
  const on = await open()
  await on.until(() => on.timeline('utterance').length === 1, 12_000, 'asked')
  on.caller.sendDigits('2')
  await on.pass(400)
  on.caller.hangUp()
  await on.until(() => on.report !== null, 3000, 'ended')
  expect(on.timeline('digits')).toMatchObject([{ direction: 'in', digits: '2' }])
})
