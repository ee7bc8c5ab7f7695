import { type TestCase, testCase } from '@parley/contract'
import { type InputLog, readInputLog } from '@parley/conversation'
import { if_, planOf, says, when } from '@parley/conversation/testing'
import { replayCall } from '@parley/engine'
import type { RecordedCall } from '@parley/engine/testing'
import { SeededRandom, systemTime } from '@parley/kernel'
import { RulesModel, TonesVoice } from '@parley/providers'
import { afterAll, describe, expect, it } from 'vitest'
import { runTrial } from '../run-trial.ts'
import { audioTrialRunner } from './audio-trial.ts'

const planWith = (booked: string) =>
  planOf(
    [
      says('welcome', 'Hello {{guest}}. How can I help you?', {
        edges: [when('The caller wants to book a room', 'book'), when('The caller wants to speak to a person', 'end')],
      }),
      {
        id: 'book',
        type: 'function',
        tool_id: 'book',
        edges: [if_('current_action_outcome == succeeded', 'booked')],
        else_edge: when('Else', 'end'),
      },
      says('booked', booked, {
        edges: [when('The caller does not need anything else', 'end')],
      }),
      { id: 'end', type: 'end' },
    ],
    {
      actions: [
        {
          action_id: 'book',
          kind: 'http',
          name: 'book',
          method: 'POST',
          url: 'https://hotel.example.com/book',
          response_variables: { room: '$.room' },
        },
      ],
      settings: { channels: ['phone', 'cloud'] },
    },
  )
const PLAN = planWith('Room {{room}} is booked. Anything else?')
const voice = new TonesVoice()
afterAll(() => voice.close())

async function recordedCall(over: object = {}, seed = 5) {
  let recorded: RecordedCall | null = null
  const runner = audioTrialRunner(voice, {
    versions: { code: 'c', lexicon: 'l', plan: 'p' },
    onRecorded: call => {
      recorded = call
    },
  })
  const options: TestCase = testCase.parse({
    case_id: 'a',
    name: 'A',
    mode: 'audio',
    language: 'en',
    caller: { kind: 'script', steps: [{ says: 'I want to book a room, please.' }, { says: 'No.' }] },
    dynamic_variables: { guest: 'Ada' },
    mocks: [{ action_id: 'book', respond: { kind: 'response', body: { room: '12' } } }],
    assertions: [{ type: 'outcome', id: 'ends', kinds: ['completed'] }],
    ...over,
  })
  const report = await runTrial(
    {
      plan: PLAN,
      agentId: 'hotel',
      agentVersion: 1,
      runId: '00000000-0000-4000-8000-000000000000',
      testCase: options,
      models: () => new RulesModel(),
      time: systemTime,
      wallClock: () => Date.UTC(2026, 10, 23, 9),
      random: new SeededRandom(seed),
      signal: new AbortController().signal,
    },
    runner,
  )
  const { log: bytes } = recorded!.finish()
  return { report, bytes, log: readInputLog(bytes) }
}

const itemsOf = (items: readonly object[]) => items.filter(item => (item as { kind: string }).kind !== 'state')

describe('replay of a call', () => {
  it('the replay of a call decides everything again as it was recorded, at the same times, without services and audio', async () => {
    const { report, log, bytes } = await recordedCall()
    expect(report.verdict).toBe('passed')
    const again = await replayCall({ log, plan: PLAN })
    expect(again.divergence).toBeNull()
    expect(again.utterances).toEqual(report.record!.utterances)
    const stripped = (items: readonly object[]) => itemsOf(items).map(item => ({ ...item, seq: 0, at: '' }))
    expect(stripped(again.timeline)).toEqual(stripped(report.record!.timeline))
    expect(bytes.length).toBeLessThan(20_000)
  })

  it.each([
    ['an interruption and street noise', 1, { interrupt_at_ms: 300 }, { background: { kind: 'street', snr_db: 15 } }],
    ['a wideband line with babble', 3, {}, { channel: 'wideband', background: { kind: 'babble', snr_db: 10 } }],
    ['a late interruption on a noisy line', 8, { interrupt_at_ms: 900 }, { background: { kind: 'car', snr_db: 8 } }],
  ])('the replay of a call decides the same again after %s', async (_, seed, interruption, over) => {
    const steps = [
      { says: 'I want to book a room, please.', ...interruption },
      { says: 'No.', ...interruption },
    ]
    const call = { voice: { voice_id: 'slt', ...over }, caller: { kind: 'script', steps } }
    const { log } = await recordedCall(call, seed)
    const again = await replayCall({ log, plan: PLAN, voiceOf: () => voice })
    expect(again).toMatchObject({ divergence: null, hasComparedAudio: true })
  })

  it('the audio of a deterministic voice is the same, sample by sample, and one changed sample is found', async () => {
    const { log } = await recordedCall()
    const synthesize: typeof voice.synthesize = async function* (request, signal) {
      for await (const chunk of voice.synthesize(request, signal)) {
        if (request.text.startsWith('Room')) chunk.samples[100]! += 1
        yield chunk
      }
    }
    const other = {
      id: voice.id,
      languages: voice.languages,
      readiness: async () => null,
      synthesize,
      close: async () => {},
    }
    const exact = await replayCall({ log, plan: PLAN, voiceOf: () => voice })
    expect(exact).toMatchObject({ divergence: null, hasComparedAudio: true })
    const planted = await replayCall({ log, plan: PLAN, voiceOf: () => other })
    expect(planted.divergence).toMatchObject({ kind: 'audio' })
    expect(await replayCall({ log, plan: PLAN })).toMatchObject({ divergence: null, hasComparedAudio: false })
  })

  it('one changed input is found', async () => {
    const { log } = await recordedCall()
    const at = log.lines.findIndex(
      line => line[0] === '>' && line[1] === 'heard' && /"final".*book/.test(JSON.stringify(line)),
    )
    const lines = log.lines.map((line, index) =>
      index === at ? JSON.parse(JSON.stringify(line).replaceAll('book', 'look')) : line,
    ) as InputLog['lines']
    expect((await replayCall({ log: { ...log, lines }, plan: PLAN })).divergence).not.toBeNull()
  })

  it('with another flow it is exact until the first turn that changes', async () => {
    const { log } = await recordedCall()
    const again = await replayCall({ log, plan: planWith('Room {{room}} is yours. Bye?'), compare: 'changed' })
    expect(again.divergence).toMatchObject({ kind: 'request' })
    expect(again.utterances.map(({ role }) => role)).toEqual(['agent', 'user'])
  })
})
