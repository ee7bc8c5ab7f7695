import { type Random, SeededRandom, systemTime } from '@parley/kernel'
import { type GenerationRequest, RulesModel } from '@parley/providers'
import { describe, expect, it } from 'vitest'
import { InMemoryEffectLedger } from '../in-memory-effect-ledger.ts'
import { if_, planOf, says, when } from '../testing/plans.ts'
import { TextSession } from '../text-session.ts'
import type { TimelineFact } from '../timeline.ts'
import { type InputLog, InputLogWriter, readInputLog } from './input-log.ts'
import { InputRecorder } from './input-recorder.ts'
import { InputReplay } from './input-replay.ts'
import type { Inputs } from './inputs.ts'

const BOOKS = when('The caller wants to book a room', 'book')
const planWith = (booked: string, afterWelcome: Parameters<typeof says>[2] = { edges: [BOOKS] }) =>
  planOf(
    [
      says('welcome', 'Hello. How can I help you?', afterWelcome),
      {
        id: 'book',
        type: 'function',
        tool_id: 'book',
        edges: [if_('current_action_outcome == succeeded', 'booked')],
        else_edge: when('Else', 'trouble'),
      },
      says('booked', booked, { edges: [when('The caller does not need anything else', 'end')] }),
      says('trouble', 'That did not work.', { edges: [when('The caller says goodbye', 'end')] }),
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
const random: Random = new SeededRandom(3)

function sessionOf(plan: typeof PLAN, inputs: Inputs, act: () => Promise<unknown>) {
  const facts: TimelineFact[] = []
  const session = new TextSession({
    plan,
    mode: { channel: 'cloud', hasCaller: true },
    call: { run_id: 'r', agent_id: 'a', agent_version: 1, channel: 'cloud', from_number: null, to_number: null },
    models: () => new RulesModel(),
    actions: {
      run: async ({ onPhase }) => {
        onPhase({ phase: 'started', effect_id: 'effect-1' })
        return { outcome: 'succeeded', body: await act(), effect_id: 'effect-1', error_code: null, durationMs: 12 }
      },
    },
    ledger: new InMemoryEffectLedger({ random, wallClock: Date.now }),
    transferPolicy: () => ({ decision: 'allow', reason: null, policy_version: '1' }),
    time: systemTime,
    wallClock: Date.now,
    inputs,
    onEvent: event => {
      if (event.type === 'fact') facts.push(event.fact)
    },
  })
  const hearing = inputs.input('hearing', (words: string) => session.conversation.startPreemptiveGeneration(words))
  return { session, facts, hearing }
}

/** `heard`: beginnings of the caller's first turn, for which the model is asked ahead. */
async function recorded(heard: readonly string[] = []) {
  const start = { startedAtMs: Math.round(systemTime.now()), startedAt: Date.UTC(2026, 10, 23), seed: 7 }
  const header = { ...start, code: 'c', lexicon: 'l', plan: 'p', kind: 'text', redacted: false } as const
  const log = new InputLogWriter({ ...header, facts: null })
  const recorder = new InputRecorder({ ...start, log, time: systemTime })
  const { session, facts, hearing } = sessionOf(PLAN, recorder, async () => ({ room: '12' }))
  await session.start()
  for (const words of heard) {
    hearing(words)
    await new Promise(resolve => setImmediate(resolve))
  }
  await session.say('I want to book a room, please.')
  await session.say('No, thank you.')
  await session.conversation.settled()
  recorder.close()
  return { facts, log: readInputLog(log.finish(1000)) }
}

type ReplayOptions = NonNullable<ConstructorParameters<typeof InputReplay>[1]>

async function replayed(log: InputLog, plan = PLAN, options: ReplayOptions = {}) {
  const replay = new InputReplay(log, options)
  const never = async () => {
    throw new Error('a replay calls no server')
  }
  const { session, facts } = sessionOf(plan, replay, never)
  return { divergence: await replay.run(), facts, session }
}

describe('replay of a text conversation', () => {
  it('the replay of a text conversation makes the same decisions without a model and without a server', async () => {
    const { facts, log } = await recorded()
    const again = await replayed(log)
    expect(again.divergence).toBeNull()
    expect(again.facts).toEqual(facts)
    expect(again.facts).toContainEqual(expect.objectContaining({ kind: 'node', node_id: 'booked' }))
    expect(again.session.ended?.outcome).toBe('completed')
  })

  it('the replay of a text conversation finds one changed input', async () => {
    const { log } = await recorded()
    const lines = JSON.parse(JSON.stringify(log.lines).replace('"room":"12"', '"room":"13"'))
    const again = await replayed({ ...log, lines })
    expect(again.divergence).toMatchObject({ kind: expect.stringMatching(/decision|request/) })
  })

  it('with another flow it goes as far as the first difference', async () => {
    const { log } = await recorded()
    const changed = await replayed(log, planWith('Room {{room}} is yours. Anything else?'), { compare: 'changed' })
    expect(changed.divergence).not.toBeNull()
    const nodes = changed.facts.flatMap(fact => (fact.kind === 'node' ? [fact.node_id] : []))
    expect(nodes.slice(0, 3)).toEqual(['welcome', 'book', 'booked'])
  })
})

const answerTo: NonNullable<ReplayOptions['answerTo']> = async ({ request }) => {
  const events: unknown[] = []
  const { signal } = new AbortController()
  for await (const event of new RulesModel().generate(request as GenerationRequest, signal)) events.push(event)
  return events
}

describe('replay against another flow, of a model that was asked ahead of the end of the turn', () => {
  const ROOM = 'I want to book a room, please.'
  const LEAVES = when('The caller says goodbye', 'end')
  const leaving = planWith('Room {{room}} is booked. Anything else?', { edges: [BOOKS, LEAVES] })
  const changed = async (heard: readonly string[], plan: typeof PLAN, options: ReplayOptions = { answerTo }) => {
    const { facts, log } = await recorded(heard)
    return { recorded: facts, ...(await replayed(log, plan, { compare: 'changed', ...options })) }
  }
  const spokenBy = (facts: readonly TimelineFact[]) =>
    facts.flatMap(fact => (fact.kind === 'utterance' ? [fact.role] : []))

  it('another answer that is never used, because the caller goes on, is no change', async () => {
    const again = await changed(['Goodbye.', ROOM], leaving)
    expect(again.divergence).toBeNull()
    expect(again.facts).toEqual(again.recorded)
  })

  it('another answer of the same effect is no change', async () => {
    const room = when('The caller wants to book a room or a table', 'book')
    const again = await changed([ROOM], planWith('Room {{room}} is booked. Anything else?', { edges: [LEAVES, room] }))
    expect(again.divergence).toBeNull()
  })

  it.each([
    ['another answer', { edges: [when('The caller wants to book a room', 'trouble')] }],
    ['a flow that asks no model ahead', { edges: [if_('no == yes', 'end')], else_edge: when('Else', 'trouble') }],
  ])('%s belongs to the turn that begins with the words', async (_, afterWelcome) => {
    const again = await changed([ROOM], planWith('Room {{room}} is booked. Anything else?', afterWelcome))
    expect(again.divergence).not.toBeNull()
    expect(spokenBy(again.facts).slice(0, 2)).toEqual(['agent', 'user'])
  })

  it('of a model that may answer differently each time, a request that is dropped is no change, and one that is used is', async () => {
    const dropped = await changed(['Goodbye.'], leaving, {})
    expect(spokenBy(dropped.facts)).toEqual(['agent', 'user'])
    expect(dropped.divergence).toMatchObject({ kind: 'request' })
    const used = await changed([ROOM], leaving, {})
    expect(spokenBy(used.facts)).toEqual(['agent', 'user'])
    expect(used.divergence).not.toBeNull()
  })
})
