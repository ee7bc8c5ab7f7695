import { afterAll, describe, expect, it } from 'vitest'
import { DEMO_PATIENT } from '../../../packages/cli/src/demo/demo-caller.ts'
import { CASES, type CallerCase } from './cases.ts'
import { judge } from './judge.ts'
import { type FinishedCall, VirtualAgentCalls } from './virtual-agent-call.ts'

const calls = new VirtualAgentCalls()
afterAll(() => calls.close())

const caseOf = (id: string): CallerCase => CASES.find(example => example.id === id)!

describe('the benchmark of scripted callers', () => {
  it('the benchmark of scripted callers has at least sixty scripts in two languages, of every kind', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(60)
    expect(new Set(CASES.map(({ language }) => language))).toEqual(new Set(['en', 'es']))
    expect(new Set(CASES.map(({ kind }) => kind)).size).toBe(10)
    expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length)
  })

  it.each([
    ['en-29', 'corrects a day before the agent has answered'],
    ['es-20', 'thinks aloud before naming the size'],
    ['es-27', 'accepts while the price is read out'],
  ])('%s: a caller who %s is understood', async id => {
    const example = caseOf(id)
    const server = await calls.openServer()
    const call = await calls.run(example, server).finally(() => server.close())
    expect(judge(example, call).findings).toEqual([])
  })

  it("a call goes on while a reversible action waits for the end of the caller's turn", async () => {
    const server = await calls.openServer()
    const line = { seed: 664_751_243, damage: { echo: { levelDb: -35, delayMs: 55 } } }
    const { report } = await calls.run({ ...caseOf('en-18'), line }, server).finally(() => server.close())
    expect(report.timeline).toContainEqual(expect.objectContaining({ action_id: 'register_patient', phase: 'started' }))
    expect(report.run.outcome).not.toBeNull()
  })

  describe('a call in which nothing went wrong', () => {
    const example = caseOf('es-18')
    const call = sound(example)

    it('a call in which nothing went wrong has no finding', () => {
      expect(judge(example, call)).toMatchObject({
        cutOff: 0,
        late: 0,
        wrongBranches: 0,
        lostWords: 0,
        repeated: 0,
        findings: [],
      })
    })

    it.each([
      [
        'an agent that speaks in a pause inside a turn',
        'cutOff',
        (good: FinishedCall) => ({ ...good, segments: [{ startMs: 2500, endMs: 2900 }, ...good.segments] }),
      ],
      [
        'a reply after 1.3 s',
        'late',
        (good: FinishedCall) => ({
          ...good,
          turns: good.turns.map((turn, i) => (i === 1 ? { ...turn, replyMs: 1300 } : turn)),
        }),
      ],
      [
        'a missing reply',
        'late',
        (good: FinishedCall) => ({
          ...good,
          turns: good.turns.map((turn, i) => (i === 1 ? { ...turn, replyMs: null } : turn)),
        }),
      ],
      ['another node', 'wrongBranches', (good: FinishedCall) => withTimeline(good, 'pedir_pizza')],
      [
        'a word that is not in the transcript',
        'lostWords',
        (good: FinishedCall) =>
          withUtterances(
            good,
            good.report.utterances.map(said => ({ ...said, text: said.text.replace('pizza', '') })),
          ),
      ],
      [
        'a sentence that is said again',
        'repeated',
        (good: FinishedCall) => withUtterances(good, [...good.report.utterances, good.report.utterances[0]!]),
      ],
    ] as const)('%s is one finding of its kind', (_what, kind, change) => {
      const verdict = judge(example, change(call))
      const counts = { cutOff: 0, late: 0, wrongBranches: 0, lostWords: 0, repeated: 0, [kind]: 1 }
      expect(verdict).toMatchObject(counts)
      expect(verdict.findings).toHaveLength(1)
    })
  })

  it('a caller talks with the example pizzeria in virtual time: real audio, recogniser, dialogue, flow and actions', async () => {
    const example = caseOf('es-03')
    const server = await calls.openServer()
    const call = await calls.run(example, server).finally(() => server.close())
    expect(call.scriptFailure).toBeNull()
    expect(call.report.run).toMatchObject({ state: 'completed', outcome: { kind: 'completed' } })
    expect(judge(example, call)).toMatchObject({ wrongBranches: 0, lostWords: 0 })
    expect(call.turns.map(({ step }) => step)).toEqual([0, 1, 2])
    expect(call.turns.map(({ replyMs }) => replyMs !== null && replyMs > 200 && replyMs < 3000)).toEqual([
      true,
      true,
      true,
    ])
  })

  it('three patients of the built-in phone who choose the same appointment at once all get one', async () => {
    const server = await calls.openServer()
    const patient = { ...caseOf('en-01'), steps: DEMO_PATIENT }
    try {
      const ended = await Promise.all([1, 2, 3].map(() => calls.run(patient, server)))
      expect(ended.map(({ report }) => report.run.outcome?.kind)).toEqual(['completed', 'completed', 'completed'])
      expect(new Set(server.bookings.map(({ slot }) => slot)).size).toBe(3)
    } finally {
      await server.close()
    }
  })
})

/** A faultless call of "Pues …, quiero una pizza barbacoa.", goodbye. */
function sound({ caller }: CallerCase): FinishedCall {
  const turn = (step: number, startMs: number, endMs: number, replyMs: number | null) => ({
    step,
    startMs,
    endMs,
    replyMs,
    heard: '',
  })
  const said = (role: 'agent' | 'user', text: string) => ({ role, text })
  const nodes = [
    { kind: 'node', node_id: 'bienvenida', offset_ms: 0 },
    { kind: 'node', node_id: 'pedir_tamano', offset_ms: 7000 },
    { kind: 'node', node_id: 'adios', offset_ms: 12_000 },
  ]
  const utterances = [
    said('agent', 'Pizzería La Plaza, buenas tardes.'),
    ...caller.steps.flatMap(({ says }) => (says === undefined ? [] : [said('user', says)])),
  ]
  return {
    report: { timeline: nodes, utterances } as unknown as FinishedCall['report'],
    turns: [turn(0, 2000, 2400, null), turn(1, 3900, 6000, 800), turn(2, 9800, 10_400, 700)],
    missed: [],
    segments: [
      { startMs: 200, endMs: 1500 },
      { startMs: 6800, endMs: 9000 },
      { startMs: 11_100, endMs: 12_500 },
    ],
    endMs: 13_000,
    scriptFailure: null,
  }
}

function withTimeline(call: FinishedCall, node: string): FinishedCall {
  const timeline = call.report.timeline.map(item =>
    item.kind === 'node' && item.node_id === 'pedir_tamano' ? { ...item, node_id: node } : item,
  )
  return { ...call, report: { ...call.report, timeline } }
}

function withUtterances(call: FinishedCall, utterances: FinishedCall['report']['utterances']): FinishedCall {
  return { ...call, report: { ...call.report, utterances } }
}
