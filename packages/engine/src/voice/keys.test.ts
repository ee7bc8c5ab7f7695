import type { Draft } from '@parley/flow'
import type { GenerationEvent, GenerationRequest } from '@parley/providers'
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

const choosesDay = (request: GenerationRequest): GenerationEvent[] => [
  {
    type: 'tool-call',
    call: { id: 'c', name: request.tools!.find(tool => tool.description === 'names a day')!.name, argumentsText: '{}' },
    arguments: {},
  },
]

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
    answers: [choosesDay],
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

it('a key in a sentence that may not be interrupted is applied at its node when the sentence ends, before the edge that follows the sentence', async () => {
  const on = await open({
    draft: {
      ...draft,
      flow: {
        start_node_id: 'notice',
        nodes: [
          {
            id: 'notice',
            type: 'conversation',
            interruption_sensitivity: 0,
            instruction: {
              type: 'static_text',
              text: 'This call is recorded, press one to object to that now please.',
            },
            edges: [key('1', 'objects')],
            skip_response_edge: {
              id: 'skip',
              transition_condition: { type: 'prompt', prompt: 'Skip response' },
              destination_node_id: 'book',
            },
          },
          { id: 'objects', type: 'conversation', instruction: { type: 'static_text', text: 'We will not record it.' } },
          {
            id: 'book',
            type: 'conversation',
            instruction: { type: 'static_text', text: 'Shall I book it?' },
            edges: [key('1', 'end')],
          },
          { id: 'end', type: 'end' },
        ],
      },
    },
  })
  await on.pass(1500)
  on.caller.sendDigits('1')
  await on.until(() => on.timeline('utterance').length >= 2, 12_000, 'went on')
  await on.pass(1000)
  expect(on.timeline('utterance').map(({ text, interrupted }) => [text, interrupted])).toEqual([
    [expect.stringMatching(/^This call/), false],
    ['We will not record it.', false],
  ])
  expect(nodes(on)).toEqual(['notice', 'objects'])
})

it('keys that are still being entered when a voice is not understood decide, and the voice does not', async () => {
  const on = await open({
    draft: {
      ...draft,
      flow: {
        start_node_id: 'number',
        nodes: [
          {
            id: 'number',
            type: 'conversation',
            instruction: { type: 'static_text', text: 'Key in your number.' },
            user_dtmf_options: { termination_key: '#', timeout_ms: 4000 },
            edges: [
              {
                id: 'unheard',
                transition_condition: {
                  type: 'equation',
                  equations: [{ left: 'current_not_understood', operator: '>=', right: '1' }],
                },
                destination_node_id: 'unheard',
              },
              {
                id: 'keys',
                transition_condition: { type: 'equation', equations: [{ left: 'current_digits', operator: 'exists' }] },
                destination_node_id: 'book',
              },
            ],
          },
          { id: 'unheard', type: 'conversation', instruction: { type: 'static_text', text: 'Say it again.' } },
          { id: 'book', type: 'conversation', instruction: { type: 'static_text', text: 'Shall I book it?' } },
        ],
      },
    },
  })
  await on.until(() => on.timeline('utterance').length === 1, 12_000, 'asked')
  on.coughs(900)
  await on.pass(700)
  on.caller.sendDigits('10')
  await on.pass(1500)
  on.coughs(600)
  await on.pass(1800)
  on.caller.sendDigits('42#')
  await on.until(() => nodes(on).length === 2, 4000, 'moved')
  expect(nodes(on)).toEqual(['number', 'book'])
  expect(on.timeline('digits')).toMatchObject([{ digits: '1042' }])
})

it.each([
  ['1', 0],
  ['1', 700],
  ['22', 0],
  ['22', 500],
])(
  'a caller who speaks and presses %s %i ms later hears the greeting once, and the key acts at once',
  async (digits, after) => {
    const on = await open()
    await on.pass(1200)
    on.says('number one please')
    await on.pass(after)
    on.caller.sendDigits(digits)
    const pressedAt = on.now
    await on.until(() => nodes(on).includes('book'), 1500, 'moved')
    expect(on.now - pressedAt).toBeLessThan(800)
    await on.until(() => on.timeline('utterance').filter(({ role }) => role === 'agent').length >= 2, 4000, 'asked')
    await on.pass(4000)
    expect(on.timeline('utterance').flatMap(({ role, text }) => (role === 'agent' ? [text] : []))).toEqual([
      expect.stringMatching(/^Which/),
      'Shall I book it?',
    ])
    expect(nodes(on)).toEqual(['day', 'book'])
  },
)

it('a termination key alone is in the timeline', async () => {
  const on = await open({
    draft: { ...draft, settings: { ...draft.settings, userDtmfOptions: { terminationKey: '#' } } },
  })
  await on.until(() => on.timeline('utterance').length === 1, 12_000, 'asked')
  on.caller.sendDigits('#')
  await on.pass(500)
  expect(on.timeline('digits')).toMatchObject([{ direction: 'in', digits: '#' }])
  expect(nodes(on)).toEqual(['day'])
})

it.each(['uh', 'um, uh'])(
  'after a lone "%s" the agent waits for the caller and apologises for nothing',
  async words => {
    const on = await open({
      answers: Array.from({ length: 4 }, () => choosesDay),
    })
    await on.until(() => on.timeline('utterance').length === 1, 12_000, 'asked')
    on.says(words)
    await on.pass(4000)
    on.says('Tuesday')
    await on.until(() => nodes(on).includes('book'), 4000, 'moved')
    expect(on.timeline('utterance').map(({ role, text }) => [role, text])).toEqual([
      ['agent', expect.stringMatching(/^Which/)],
      ['user', `${words} Tuesday`],
    ])
  },
)

it('after a short sound that is not understood the caller may go on for two seconds', async () => {
  const on = await open()
  await on.until(() => on.timeline('utterance').length === 1, 12_000, 'asked')
  on.coughs(400)
  await on.pass(2200)
  on.says('Tuesday')
  await on.pass(1500)
  expect(on.requests.length).toBeLessThanOrEqual(1)
  expect(on.timeline('utterance').map(({ role }) => role)).toEqual(['agent', 'user'])
})
