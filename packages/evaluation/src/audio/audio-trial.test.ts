import { type TestCase, testCase } from '@parley/contract'
import { if_, planOf, says, when } from '@parley/conversation/testing'
import { SeededRandom, systemTime, VirtualTime } from '@parley/kernel'
import { type LanguageModel, RulesModel, TonesVoice } from '@parley/providers'
import { afterAll, describe, expect, it } from 'vitest'
import { runTrial } from '../run-trial.ts'
import type { TrialOptions } from '../trial.ts'
import { audioTrialRunner } from './audio-trial.ts'

const PLAN = planOf(
  [
    says('welcome', 'Hello {{guest}}. How can I help you?', {
      edges: [when('The caller wants to book a room', 'book'), when('The caller wants to speak to a person', 'person')],
    }),
    {
      id: 'book',
      type: 'function',
      tool_id: 'book',
      edges: [if_('current_action_outcome == succeeded', 'booked')],
      else_edge: when('Else', 'trouble'),
    },
    says('booked', 'Room {{room}} is booked. Anything else?', {
      edges: [when('The caller does not need anything else', 'end')],
    }),
    says('trouble', 'That did not work.', { edges: [when('The caller says goodbye', 'end')] }),
    {
      id: 'person',
      type: 'transfer_call',
      transfer_destination: { type: 'predefined', number: '+12025550100' },
      transfer_option: { type: 'cold_transfer' },
      edge: when('Failed', 'trouble'),
    },
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
const BOOK = { says: 'I want to book a room, please.' }
const voice = new TonesVoice()
afterAll(() => voice.close())
const runner = audioTrialRunner(voice)

const caseOf = (over: object = {}): TestCase =>
  testCase.parse({
    case_id: 'a',
    name: 'A',
    mode: 'audio',
    language: 'en',
    caller: {
      kind: 'script',
      steps: [{ ...BOOK, expect: { lands: ['booked'], hears: ['room 12'] } }, { says: 'No.' }],
    },
    dynamic_variables: { guest: 'Ada' },
    mocks: [{ action_id: 'book', respond: { kind: 'response', body: { room: '12' } } }],
    assertions: [{ type: 'outcome', id: 'ends', kinds: ['completed'] }],
    ...over,
  })

const run = (over: object = {}, options: Partial<TrialOptions> = {}) =>
  runTrial(
    {
      plan: PLAN,
      agentId: 'hotel',
      agentVersion: 1,
      runId: '00000000-0000-4000-8000-000000000000',
      testCase: caseOf(over),
      models: () => new RulesModel(),
      time: systemTime,
      wallClock: () => Date.UTC(2026, 10, 23, 9),
      random: new SeededRandom(5),
      signal: new AbortController().signal,
      ...options,
    },
    runner,
  )

const latencyOf = (value: number) => [
  { type: 'max_latency_ms', id: 'fast', percentile: 'p95', value },
  { type: 'variable', id: 'room', name: 'room', op: 'equals', value: '12' },
  { type: 'tool_called', id: 'books', action_id: 'book', times: 1 },
  { type: 'said', id: 'says', role: 'user', contains: 'book a room' },
]

describe('a trial with audio', () => {
  it('a trial with audio is a call in virtual time: the caller speaks, the agent hears and answers, and its latency is measured', async () => {
    const report = await run({ assertions: [...caseOf().assertions, ...latencyOf(3000)] })
    expect(report.error).toBeNull()
    expect(report.assertions.filter(({ passed }) => passed !== true)).toEqual([])
    expect(report.verdict).toBe('passed')
    expect(report.record!.latenciesMs.length).toBeGreaterThan(0)
    expect(report.record!.outcome).toEqual({ kind: 'completed', ended_by: 'agent', code: null })
  })

  it('a limit of latency below what was measured fails', async () => {
    const report = await run({ assertions: latencyOf(100) })
    expect(report.assertions.find(({ id }) => id === 'fast')).toMatchObject({ passed: false })
  })

  it('a trial with audio is identical for the same seed, with noise, echo and a wideband line', async () => {
    const voice = {
      voice_id: 'slt',
      rate: 1.1,
      channel: 'wideband',
      background: { kind: 'street', snr_db: 25 },
      echo: { level_db: -30, delay_ms: 120 },
    }
    const [first, second] = [await run({ voice }), await run({ voice })]
    expect(first.verdict).toBe('passed')
    expect(second.record!.timeline).toEqual(first.record!.timeline)
    expect(second.record!.latenciesMs).toEqual(first.record!.latenciesMs)
    expect(second.assertions).toEqual(first.assertions)
  })

  it('a trial with audio is identical for the same seed also where a minute ends in the call', async () => {
    const at = (ms: number) => run({}, { wallClock: () => Date.UTC(2026, 10, 23, 9) - ms })
    const first = await at(0)
    // Between the request ahead of the end of the caller's turn and that end.
    for (const ms of [4400, 4440]) expect((await at(ms)).record!.utterances).toEqual(first.record!.utterances)
  })

  it('noise, echo and the loss of packets reach the agent', async () => {
    const voice = { voice_id: 'slt' }
    const background = { kind: 'babble', snr_db: 0 }
    const echo = { level_db: -6, delay_ms: 200 }
    const clean = await run({ voice })
    for (const damaged of [
      { ...voice, background },
      { ...voice, echo },
      { ...voice, packet_loss: 0.3 },
    ])
      expect((await run({ voice: damaged })).record!.timeline).not.toEqual(clean.record!.timeline)
  })

  it('a caller who is too quiet to be heard does not book', async () => {
    const report = await run({
      caller: {
        kind: 'script',
        steps: [
          { ...BOOK, level_db: -60 },
          { says: 'No.', level_db: -60 },
        ],
      },
    })
    expect(report.verdict).toBe('failed')
    expect(report.record!.calls).toEqual([])
  })

  it('a model takes as long on the clock of the call as it really took', async () => {
    const clock = new VirtualTime()
    const rules = new RulesModel()
    const slow: LanguageModel = {
      identity: { provider: 'test', model: 'slow' },
      readiness: async () => null,
      async *generate(request, signal) {
        clock.advance(1700)
        yield* rules.generate(request, signal)
      },
      close: async () => {},
    }
    const report = await run({}, { time: clock, models: () => slow })
    expect(report.verdict).toBe('passed')
    expect(Math.max(...report.record!.latenciesMs)).toBeGreaterThan(1700)
  })

  it('a caller whose turns are used up hangs up', async () => {
    const report = await run({ max_turns: 1, assertions: [{ type: 'outcome', id: 'o', kinds: ['caller_hung_up'] }] })
    expect(report.assertions[0]).toMatchObject({ id: 'o', passed: true })
    expect(report.record!.speech.filter(({ role }) => role === 'user')).toHaveLength(1)
  })

  it('a transfer without a mock fails, reaches no network and leaves a guard event', async () => {
    const report = await run({
      caller: { kind: 'script', steps: [{ says: 'I want to speak to a person.', expect: { lands: ['trouble'] } }] },
      assertions: [{ type: 'final_node', id: 'n', node_ids: ['trouble'] }],
    })
    expect(report.verdict).toBe('passed')
    expect(report.record!.guardEvents).toMatchObject([{ kind: 'unmocked_transfer' }])
  })

  describe('with a persona', () => {
    const persona = (behavior: object = {}) => ({
      caller: { kind: 'persona', goal: 'I want to book a room, please.', brief: 'A guest', behavior },
      assertions: [...caseOf().assertions, ...latencyOf(3000)],
    })

    it('the persona speaks on the call, hears the answers and reaches its goal', async () => {
      const report = await run(persona())
      expect(report).toMatchObject({ verdict: 'passed', error: null })
      const spoken = report.record!.speech.map(({ role, text, turn }) => ({ role, text, turn }))
      expect(spoken).toEqual([
        { role: 'agent', text: 'Hello Ada. How can I help you?', turn: 0 },
        { role: 'user', text: 'I want to book a room, please.', turn: 1 },
        { role: 'agent', text: 'Room 12 is booked. Anything else?', turn: 1 },
        { role: 'user', text: 'No, that is all, thank you.', turn: 2 },
      ])
    })

    it('a persona that often hesitates, interrupts and backchannels calls identically for the same seed', async () => {
      const often = { interrupts: 'often', pauses: 'often', backchannels: 'often' }
      const call = () => run(persona(often), { random: new SeededRandom(7) })
      const [first, second] = [await call(), await call()]
      expect(second.record!.timeline).toEqual(first.record!.timeline)
      const spoken = first.record!.timeline.filter(item => item.kind === 'utterance')
      expect(spoken.filter(({ role }) => role === 'agent').some(({ interrupted }) => interrupted)).toBe(true)
      expect((await run(persona())).record!.timeline).not.toEqual(first.record!.timeline)
    })

    it('a persona whose turns are used up hangs up', async () => {
      const report = await run({ ...persona(), max_turns: 1 })
      expect(report.record!.outcome).toMatchObject({ kind: 'caller_hung_up', ended_by: 'caller' })
      expect(report.record!.speech.filter(({ role }) => role === 'user')).toHaveLength(1)
    })

    it('a persona whose model fails leaves an errored trial that says so', async () => {
      const failing: LanguageModel = {
        identity: { provider: 'test', model: 'failing' },
        readiness: async () => null,
        // biome-ignore lint/correctness/useYield: it fails before its first event
        async *generate() {
          throw new Error('no answer')
        },
        close: async () => {},
      }
      const report = await run(persona(), { models: () => failing })
      expect(report).toMatchObject({ verdict: 'errored', record: null })
      expect(report.error).toContain('no answer')
    })
  })

  it('a trial that is cancelled stops', async () => {
    await expect(run({}, { signal: AbortSignal.abort(new Error('cancelled')) })).rejects.toThrow('cancelled')
  })
})
