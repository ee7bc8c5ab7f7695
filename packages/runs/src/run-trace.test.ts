import type { TimelineItem } from '@parley/conversation'
import { runTraceIds, SeededRandom, type TraceSpan, traceparentOf } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { RunTrace } from './run-trace.ts'

const RUN = '0199a2f0-1234-7abc-8def-0123456789ab'
const MADE_AT = 0x0199a2f01234
const IDS = runTraceIds(RUN)

function traced(waited = true) {
  const spans: TraceSpan[] = []
  let now = MADE_AT + 40
  const trace = new RunTrace({
    runId: RUN,
    tenantId: 't',
    waited,
    random: new SeededRandom(1),
    wallClock: () => now,
    onSpan: span => spans.push(span),
  })
  const item = (atMs: number, fact: object, offset_ms: number | null = null) =>
    trace.item({ seq: 0, at: new Date(MADE_AT + atMs).toISOString(), offset_ms, ...fact } as TimelineItem)
  const named = (name: string) => spans.filter(span => span.name === name)
  const setNow = (atMs: number) => {
    now = MADE_AT + atMs
  }
  return { trace, spans, item, named, setNow }
}

const said = (index: number, start_ms: number | null) => ({
  kind: 'utterance',
  index,
  role: 'agent',
  text: 'x',
  interrupted: false,
  start_ms,
  end_ms: null,
  node_id: null,
})

describe('the ids of a trace', () => {
  it('the trace of a run has the id of the run, and its request and the run itself have different span ids', () => {
    expect(IDS.traceId).toBe('0199a2f012347abc8def0123456789ab')
    expect(IDS.request).toBe('8def0123456789ab')
    expect(IDS.run).toBe('cdef0123456789ab')
    expect(traceparentOf(RUN)).toBe('00-0199a2f012347abc8def0123456789ab-cdef0123456789ab-01')
  })
})

describe('the spans of a call', () => {
  it('a turn lasts from the end of the caller to the first sample of the answer, with its stages end to end', () => {
    const { item, named } = traced()
    // The answer began 5,000 ms after the start of the call's clock, and was written when it ended, 2,000 ms later.
    item(9000, said(1, 5000), 7000)
    const latency = { e2e: 900, endpointing: 300, stt: 100, llm: 350, tts: 100, engine: 50 }
    item(9000, { kind: 'turn', index: 1, latency }, 7000)
    const [turn] = named('turn')
    expect(turn).toMatchObject({ startMs: MADE_AT + 6100, endMs: MADE_AT + 7000, parentId: IDS.run })
    const stages = ['endpointing', 'stt', 'llm', 'tts', 'engine'].map(name => named(name)[0]!)
    expect(stages.map(({ startMs, endMs }) => [startMs - turn!.startMs, endMs - turn!.startMs])).toEqual([
      [0, 300],
      [300, 400],
      [400, 750],
      [750, 850],
      [850, 900],
    ])
    for (const { parentId } of stages) expect(parentId).toBe(turn!.spanId)
  })

  it('an action belongs to the turn in which it ran, and one of before to the run', () => {
    const { item, named } = traced()
    const action = (effect_id: string, phase: string) => ({
      kind: 'action',
      action_id: 'book',
      effect_id,
      phase,
      node_id: null,
      duration_ms: 100,
    })
    item(1000, action('a', 'started'))
    item(1100, action('a', 'failed'))
    item(6500, action('b', 'succeeded'))
    item(9000, said(1, 5000), 7000)
    item(
      9000,
      {
        kind: 'turn',
        index: 1,
        latency: { e2e: 900, endpointing: null, stt: null, llm: null, tts: null, engine: null },
      },
      7000,
    )
    const [first, second] = named('execute_tool book')
    expect(first).toMatchObject({ parentId: IDS.run, error: 'failed', startMs: MADE_AT + 1000 })
    expect(second).toMatchObject({ parentId: named('turn')[0]!.spanId, error: null })
    expect(second!.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'book',
      'gen_ai.tool.call.id': 'b',
    })
  })

  it('a run that a request admitted waited in the queue from then on, and the run is added once at its end', () => {
    const { trace, named, setNow } = traced()
    expect(named('queue')).toMatchObject([{ startMs: MADE_AT, endMs: MADE_AT + 40, parentId: IDS.request }])
    setNow(5000)
    trace.ended({ state: 'failed', outcome: { kind: 'error' } })
    trace.ended({ state: 'failed', outcome: { kind: 'error' } })
    expect(named('run')).toMatchObject([
      { startMs: MADE_AT + 40, endMs: MADE_AT + 5000, parentId: IDS.request, spanId: IDS.run, error: 'error' },
    ])
  })

  it('a call that came in has neither a request nor a queue', () => {
    const { trace, spans } = traced(false)
    trace.ended({ state: 'completed', outcome: { kind: 'completed' } })
    expect(spans.map(({ name, parentId, error }) => [name, parentId, error])).toEqual([['run', null, null]])
  })

  it('model requests without a turn are bounded and belong to the run', () => {
    const { trace, named } = traced()
    const effect = {
      effect_key: 'k',
      kind: 'gateway_inference',
      action: { id: 'model.infer', version: 1 },
      node_id: null,
      ordinal: null,
      state: 'failed',
      error_code: 'timeout',
      created_at: new Date(MADE_AT).toISOString(),
    } as const
    for (let request = 0; request < 130; request++) trace.inference(effect)
    expect(named('chat')).toHaveLength(30)
    trace.ended({ state: 'completed', outcome: null })
    expect(named('chat')).toHaveLength(130)
    expect(new Set(named('chat').map(({ parentId, error }) => `${parentId} ${error}`))).toEqual(
      new Set([`${IDS.run} timeout`]),
    )
  })
})
