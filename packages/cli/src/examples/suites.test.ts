import { readFileSync } from 'node:fs'
import { type TestCase, testCase } from '@parley/contract'
import { audioTrialRunner, runTrial } from '@parley/evaluation'
import { type ExampleName, exampleDraft, withOrigin } from '@parley/examples'
import { compile, type Draft } from '@parley/flow'
import { SeededRandom, systemTime } from '@parley/kernel'
import { RulesModel, TonesVoice } from '@parley/providers'
import { afterAll, describe, expect, it } from 'vitest'

function casesOf(example: ExampleName): TestCase[] {
  const file = new URL(`../../../../examples/suites/${example}.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { cases: unknown[] }).cases.map(one => testCase.parse(one))
}

const CASES = casesOf('clinic')
const voice = new TonesVoice()
const audio = audioTrialRunner(voice)
afterAll(() => voice.close())

interface Edge {
  destination_node_id?: string | null
}
interface Node {
  id: string
  edges?: (Edge & { id: string })[]
  instruction?: { text: string }
}
interface Mutable {
  flow: { nodes: Node[] }
  actions: { action_id: string; response_variables?: Record<string, string>; parameters?: { properties: object } }[]
}

const copyOf = (example: ExampleName) => structuredClone(exampleDraft(example).draft) as unknown as Mutable
const clinic = () => copyOf('clinic')

/** The verdicts of the cases against the draft. */
async function verdicts(draft: Mutable, cases = CASES): Promise<string[]> {
  const compiled = compile(withOrigin(draft as unknown as Draft, 'https://example.com'))
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
  const results: string[] = []
  for (const one of cases) {
    const options = {
      plan: compiled.plan,
      agentId: 'clinic',
      agentVersion: 0,
      runId: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
      testCase: one,
      models: () => new RulesModel({ time: systemTime }),
      time: systemTime,
      wallClock: Date.now,
      random: new SeededRandom(1),
      signal: new AbortController().signal,
    }
    const { verdict } = await (one.mode === 'audio' ? runTrial(options, audio) : runTrial(options))
    results.push(verdict)
  }
  return results
}

/** Edges that the suite's callers take. */
const EDGES = [
  'welcome/book',
  'ask_number/keys',
  'find_patient/found',
  'is_known/known',
  'find_days/days',
  'choose_day/day',
]
const MORE_EDGES = ['find_times/times', 'choose_time/time', 'find_slot/free', 'confirm/yes', 'book/booked']
/** Variables that the actions set and the conversation needs. */
const VARIABLES = [
  'find_patient/patient_known',
  'find_patient/patient_number',
  'find_times/times_found',
  'find_slot/slot_found',
  'find_slot/slot',
  'book_slot/booking_message',
]

type Mutation = [what: string, mutate: (draft: Mutable) => void]

function nodeOf(draft: Mutable, id: string): Node {
  return draft.flow.nodes.find(node => node.id === id)!
}

function redirected(nodeId: string, edgeId: string): Mutation[1] {
  return draft => {
    nodeOf(draft, nodeId).edges!.find(({ id }) => id === edgeId)!.destination_node_id = 'goodbye'
  }
}

function without(nodeId: string, edgeId: string): Mutation[1] {
  return draft => {
    const node = nodeOf(draft, nodeId)
    node.edges = node.edges!.filter(({ id }) => id !== edgeId)
  }
}

function saying(nodeId: string, text: string): Mutation[1] {
  return draft => {
    nodeOf(draft, nodeId).instruction!.text = text
  }
}

const MUTATIONS: Mutation[] = [
  ...[...EDGES, ...MORE_EDGES].flatMap((path): Mutation[] => {
    const [nodeId, edgeId] = path.split('/') as [string, string]
    return [
      [`the edge ${path} leads elsewhere`, redirected(nodeId, edgeId)],
      [`the edge ${path} is gone`, without(nodeId, edgeId)],
    ]
  }),
  ...VARIABLES.map((path): Mutation => {
    const [actionId, name] = path.split('/') as [string, string]
    return [
      `the variable ${path} is lost`,
      draft => void delete draft.actions.find(({ action_id }) => action_id === actionId)!.response_variables![name],
    ]
  }),
  ['the welcome back is gone', saying('welcome_back', 'Hello.')],
  ['the hours are wrong', saying('hours', 'We are closed.')],
]

describe('the suite of the example pizzeria', () => {
  it('its cases pass, in text and with audio', { timeout: 120_000 }, async () => {
    const cases = casesOf('pizza')
    expect(new Set(cases.map(({ mode }) => mode))).toEqual(new Set(['text', 'audio']))
    expect(await verdicts(copyOf('pizza'), cases)).toEqual(cases.map(() => 'passed'))
  })

  it('every case fails when the kitchen does not answer', { timeout: 120_000 }, async () => {
    const cases = casesOf('pizza').map(one => ({ ...one, mocks: [] }))
    expect(await verdicts(copyOf('pizza'), cases)).toEqual(cases.map(() => 'failed'))
  })
})

describe('the suite of the example clinic', () => {
  it('its cases pass', async () => {
    expect(await verdicts(clinic())).toEqual(CASES.map(() => 'passed'))
  })

  it('30 faults are planted', () => {
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(30)
  })

  it.each(MUTATIONS)('the suite fails when %s', async (_what, mutate) => {
    const draft = clinic()
    mutate(draft)
    expect(await verdicts(draft)).toContain('failed')
  })
})
