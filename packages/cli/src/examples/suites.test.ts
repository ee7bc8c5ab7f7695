import { readFileSync } from 'node:fs'
import { type TestCase, testCase } from '@parley/contract'
import { audioTrialRunner, runTrial } from '@parley/evaluation'
import { type ExampleName, exampleDraft, withOrigin } from '@parley/examples'
import { compile, type Draft } from '@parley/flow'
import { SeededRandom, systemTime, type Time, VirtualTime } from '@parley/kernel'
import { type LanguageModel, RulesModel, TonesVoice } from '@parley/providers'
import { afterAll, describe, expect, it } from 'vitest'

function casesOf(example: ExampleName): TestCase[] {
  const file = new URL(`../../../../examples/suites/${example}.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { cases: unknown[] }).cases.map(one => testCase.parse(one))
}

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

/** The clock and the model of an agent under test. */
interface Service {
  readonly time: Time
  readonly model: LanguageModel
}

const RULES: Service = { time: systemTime, model: new RulesModel({ time: systemTime }) }

/** The same model, which takes three seconds for each answer. */
function slowService(): Service {
  const time = new VirtualTime()
  const rules = new RulesModel()
  const model: LanguageModel = {
    identity: { provider: 'test', model: 'slow' },
    readiness: async () => null,
    async *generate(request, signal) {
      time.advance(3000)
      yield* rules.generate(request, signal)
    },
    close: async () => {},
  }
  return { time, model }
}

async function verdictOf(draft: Mutable, one: TestCase, { time, model }: Service): Promise<string> {
  const compiled = compile(withOrigin(draft as unknown as Draft, 'https://example.com'))
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
  const options = {
    plan: compiled.plan,
    agentId: 'example',
    agentVersion: 0,
    runId: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
    testCase: one,
    models: () => model,
    time,
    wallClock: Date.now,
    random: new SeededRandom(1),
    signal: new AbortController().signal,
  }
  const { verdict } = await (one.mode === 'audio' ? runTrial(options, audio) : runTrial(options))
  return verdict
}

/** The verdicts of the cases against the draft. */
async function verdicts(draft: Mutable, cases: readonly TestCase[]): Promise<string[]> {
  const results: string[] = []
  for (const one of cases) results.push(await verdictOf(draft, one, RULES))
  return results
}

/** Whether a case of the suite fails; cases in text, which take less time, come first. */
async function isFound(draft: Mutable, cases: readonly TestCase[], service: Service): Promise<boolean> {
  for (const one of cases.toSorted((a, b) => Number(a.mode === 'audio') - Number(b.mode === 'audio')))
    if ((await verdictOf(draft, one, service)) === 'failed') return true
  return false
}

/** Edges of the clinic that the suite's callers take. */
const EDGES = [
  'welcome/book',
  'ask_number/keys',
  'find_patient/found',
  'is_known/known',
  'find_days/days',
  'choose_day/day',
]
const MORE_EDGES = ['find_times/times', 'choose_time/time', 'find_slot/free', 'confirm/yes', 'book/booked']
/** Variables of the clinic that the actions set and the conversation needs. */
const VARIABLES = [
  'find_patient/patient_known',
  'find_patient/patient_number',
  'find_times/times_found',
  'find_slot/slot_found',
  'find_slot/slot',
  'book_slot/booking_message',
]

type Mutation = [what: string, mutate: (draft: Mutable) => void, service?: () => Service]

function nodeOf(draft: Mutable, id: string): Node {
  return draft.flow.nodes.find(node => node.id === id)!
}

function redirected(nodeId: string, edgeId: string, to = 'goodbye'): Mutation[1] {
  return draft => {
    nodeOf(draft, nodeId).edges!.find(({ id }) => id === edgeId)!.destination_node_id = to
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

function losing(actionId: string, name: string): Mutation[1] {
  return draft => void delete draft.actions.find(({ action_id }) => action_id === actionId)!.response_variables![name]
}

const SLOWER: Mutation = ['the model is slower', () => {}, slowService]

const CLINIC: Mutation[] = [
  ...[...EDGES, ...MORE_EDGES].flatMap((path): Mutation[] => {
    const [nodeId, edgeId] = path.split('/') as [string, string]
    return [
      [`the edge ${path} leads elsewhere`, redirected(nodeId, edgeId)],
      [`the edge ${path} is gone`, without(nodeId, edgeId)],
    ]
  }),
  ...VARIABLES.map((path): Mutation => {
    const [actionId, name] = path.split('/') as [string, string]
    return [`the variable ${path} is lost`, losing(actionId, name)]
  }),
  ['the welcome back is gone', saying('welcome_back', 'Hello.')],
  ['the hours are wrong', saying('hours', 'We are closed.')],
  [
    'the prompt that asks for the patient number forgets to',
    saying('ask_number', 'Say "Please press 0 if you are new here."'),
  ],
  SLOWER,
]
const PIZZERIA: Mutation[] = [
  ['the edge of the size leads elsewhere', redirected('pedir_tamano', 'tamano', 'adios')],
  ['the edge of the pizza is gone', without('pedir_pizza', 'pizza')],
  ['the price is lost', losing('ver_precio', 'precio_mensaje')],
  ['the state of the order is lost', losing('ver_pedido', 'estado_mensaje')],
  ['the prompt that asks for the size forgets one', saying('pedir_tamano', 'Pregunta si la quiere pequeña o mediana.')],
  ['the prompt that asks for the number of the order forgets to', saying('pedir_numero', 'Di "Un momento."')],
  SLOWER,
]

describe.each([
  ['clinic', CLINIC],
  ['pizza', PIZZERIA],
] as const)('the suite of the example %s', (example, mutations) => {
  const cases = casesOf(example)

  it('its cases pass, in text and with audio', async () => {
    expect(new Set(cases.map(({ mode }) => mode))).toEqual(new Set(['text', 'audio']))
    expect(await verdicts(copyOf(example), cases)).toEqual(cases.map(() => 'passed'))
  })

  it.each([...mutations])('a case fails when %s', async (_what, mutate, service) => {
    const draft = copyOf(example)
    mutate(draft)
    expect(await isFound(draft, cases, service?.() ?? RULES)).toBe(true)
  })
})

it('every case of the pizzeria fails when the kitchen does not answer', async () => {
  const cases = casesOf('pizza').map(one => ({ ...one, mocks: [] }))
  expect(await verdicts(copyOf('pizza'), cases)).toEqual(cases.map(() => 'failed'))
})

it('30 faults and more are planted', () => {
  expect(CLINIC.length + PIZZERIA.length).toBeGreaterThanOrEqual(30)
})
