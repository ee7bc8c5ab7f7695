import { createServer, type Server } from 'node:http'
import { openWholeApi, publishedAgent } from '@parley/control-plane/testing'
import { runTraceIds, systemRandom, systemTime, type TraceSpan } from '@parley/kernel'
import { RunLeases } from '@parley/runs'
import { localBus } from '@parley/store/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTracing } from './tracing.ts'

/** A span as OTLP with JSON has it. */
interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[]
  readonly status: { code?: number; message?: string }
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { attributes: ReceivedSpan['attributes'] }
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[]
  }[]
}

let collector: Server
let endpoint: string
let requests: { path: string; body: Request }[]
beforeEach(async () => {
  requests = []
  collector = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    requests.push({ path: request.url!, body: JSON.parse(Buffer.concat(pieces).toString()) })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>(resolve => collector.listen(0, '127.0.0.1', resolve))
  const address = collector.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  endpoint = `http://127.0.0.1:${address.port}`
})
afterEach(() => new Promise<void>(resolve => collector.close(() => resolve())))

const received = () =>
  requests.flatMap(({ body }) => body.resourceSpans.flatMap(of => of.scopeSpans.flatMap(in_ => in_.spans)))

const span = (more: Partial<TraceSpan> = {}): TraceSpan => ({
  traceId: `${'0'.repeat(31)}1`,
  spanId: `${'0'.repeat(15)}2`,
  parentId: null,
  name: 'turn',
  kind: 'internal',
  startMs: 1_700_000_000_123.5,
  endMs: 1_700_000_001_000,
  attributes: { 'parley.turn.index': 3, ok: true, name: 'x' },
  error: null,
  ...more,
})

describe('the export of traces', () => {
  it('the export of traces sends finished spans to the collector by OTLP over HTTP, with the name of the process', async () => {
    const tracing = await openTracing(endpoint, 'parley-engine')
    tracing.onSpan(span())
    tracing.onSpan(
      span({ spanId: `${'0'.repeat(15)}3`, parentId: `${'0'.repeat(15)}2`, kind: 'client', error: 'timeout' }),
    )
    await tracing.close()
    expect(requests.map(({ path }) => path)).toEqual(['/v1/traces'])
    expect(requests[0]!.body.resourceSpans[0]!.resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'parley-engine' },
    })
    const [first, second] = received()
    expect(first).toMatchObject({
      traceId: `${'0'.repeat(31)}1`,
      spanId: `${'0'.repeat(15)}2`,
      name: 'turn',
      kind: 1,
      startTimeUnixNano: '1700000000123500000',
      endTimeUnixNano: '1700000001000000000',
    })
    expect(first!.parentSpanId ?? '').toBe('')
    expect(first!.attributes).toContainEqual({ key: 'parley.turn.index', value: { intValue: 3 } })
    expect(second).toMatchObject({
      parentSpanId: `${'0'.repeat(15)}2`,
      kind: 3,
      status: { code: 2, message: 'timeout' },
    })
  })

  it('a collector that is away does not keep a process from ending', async () => {
    const tracing = await openTracing('http://127.0.0.1:9', 'parley-api')
    tracing.onSpan(span())
    await tracing.close()
  })
})

describe('the trace of a run', () => {
  it('the trace of a run leads from the request of the API over the queue to the turns, with the model requests of each, in one trace', async () => {
    const tracing = await openTracing(endpoint, 'parley-api-worker')
    const bus = localBus()
    const api = await openWholeApi({ bus, platform: { trace: tracing.onSpan } })
    const leases = new RunLeases({
      database: api.db.database,
      bus,
      time: systemTime,
      wallClock: Date.now,
      random: systemRandom,
      owner: { engine: 'worker-1', worker: 'texts' },
      trace: tracing.onSpan,
    })
    let runId: string
    let logged: Record<string, unknown>[]
    try {
      const { agent_id } = await publishedAgent(api.world, 'cloud_chat')
      const body = { agent_id, version: 0, channel: 'cloud', mode: 'chat' }
      runId = String((await api.world.call('runs.create', { body })).run_id)
      expect(await api.world.call('runs.timeline', { params: { run_id: runId } })).toMatchObject({
        trace_id: runTraceIds(runId).traceId,
      })
      const run = (await leases.claim(api.scope, runId))!
      run.note({ kind: 'state', state: 'running', phone_state: null })
      const words = { interrupted: false, start_ms: null, end_ms: null, node_id: null }
      run.note({ kind: 'utterance', index: 0, role: 'user', text: 'secret words', ...words })
      const action = { id: 'model.infer', version: 1 }
      const { effect_id } = await run.ledger.intend({ kind: 'gateway_inference', action, node_id: null, ordinal: null })
      await run.ledger.sending(effect_id)
      run.addUsage({ meter: 'llm_input_tokens', provider: 'openai', model_id: 'gpt-4.1-mini', quantity: 30 })
      run.addUsage({ meter: 'llm_output_tokens', provider: 'openai', model_id: 'gpt-4.1-mini', quantity: 4 })
      await run.ledger.settle(effect_id, { state: 'succeeded' })
      run.note({ kind: 'utterance', index: 1, role: 'agent', text: 'secret answer', ...words })
      const outcome = { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' }
      expect(await run.finish({ state: 'completed', outcome, disposition: 'completed' })).toBe('finished')
      logged = api
        .logged()
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line))
    } finally {
      leases.close()
      await api.close()
      await tracing.close()
    }
    const ids = runTraceIds(runId)
    const traceOf = (operation: string) => logged.find(line => line.operation === operation)?.trace_id
    expect(traceOf('runs.create')).toBe(ids.traceId)
    expect(traceOf('publications.publish')).toBeUndefined()
    const spans = received()
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([ids.traceId]))
    const named = (name: string) => spans.find(one => one.name === name)!
    const turn = named('turn')
    expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId || null]).sort()).toEqual(
      [
        ['POST /api/v1/runs', null],
        ['queue', ids.request],
        ['run', ids.request],
        ['turn', ids.run],
        ['chat gpt-4.1-mini', turn.spanId],
      ].sort(),
    )
    expect([named('POST /api/v1/runs').spanId, named('run').spanId]).toEqual([ids.request, ids.run])
    const attributes = Object.fromEntries(
      named('chat gpt-4.1-mini').attributes.map(({ key, value }) => [key, Object.values(value)[0]]),
    )
    expect(attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4.1-mini',
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 4,
    })
    expect(JSON.stringify(requests)).not.toContain('secret')
  })
})
