import type { TimelineItem, TurnLatency } from '@parley/conversation'
import {
  type Ms,
  newSpanId,
  type Random,
  type RunTraceIds,
  runTraceIds,
  type TraceSink,
  type TraceSpan,
  type UnixMs,
  uuidTimeMs,
} from '@parley/kernel'
import type { InferenceEffect, RunEnding } from '@parley/store'

/** Spans that wait for their turn. Older ones belong to the run itself. */
const MAX_WAITING = 100

/** The parts of a turn's latency, in the order in which they are drawn. */
const STAGES = ['endpointing', 'stt', 'llm', 'tts', 'engine'] as const

interface RunTraceOptions {
  readonly runId: string
  readonly tenantId: string
  /** Whether a request admitted the run, which then waited in the queue; otherwise a call came in. */
  readonly waited: boolean
  readonly random: Random
  readonly wallClock: () => UnixMs
  readonly onSpan: TraceSink
}

/** A span without its place in the trace. */
type Work = Pick<TraceSpan, 'name' | 'startMs' | 'endMs' | 'attributes'> &
  Partial<Pick<TraceSpan, 'kind' | 'error' | 'spanId'>>

type AgentUtterance = TimelineItem & { readonly kind: 'utterance' }

/**
 * The spans of one run: its time in the queue, its turns with their stages, model requests, actions, and at the end the run itself. Made of what is
 * written about the run, without any words. Model requests and actions follow OpenTelemetry's conventions for generative AI.
 */
export class RunTrace {
  readonly #options: RunTraceOptions
  readonly #ids: RunTraceIds
  readonly #beganAt: UnixMs
  /** Model requests and actions that may belong to the next turn. */
  #waiting: Work[] = []
  /** When the last message of a chat came; null: it is answered. */
  #askedAt: UnixMs | null = null
  #lastUtterance: AgentUtterance | null = null
  #turns = 0
  #isOver = false

  constructor(options: RunTraceOptions) {
    this.#options = options
    this.#ids = runTraceIds(options.runId)
    this.#beganAt = options.wallClock()
    const admittedAt = options.waited ? uuidTimeMs(options.runId) : null
    if (admittedAt !== null)
      this.#add(
        {
          name: 'queue',
          kind: 'consumer',
          startMs: admittedAt,
          endMs: Math.max(admittedAt, this.#beganAt),
          attributes: { 'messaging.operation.type': 'receive' },
        },
        this.#ids.request,
      )
  }

  item(item: TimelineItem): void {
    const at = Date.parse(item.at)
    if (item.kind === 'turn') this.#turn(this.#heardAt(item, at), item.latency, item.index)
    else if (item.kind === 'action' && item.phase !== 'started') this.#action(item, at)
    else if (item.kind === 'utterance' && item.role === 'agent') this.#agentSpoke(item, at)
    else if (item.kind === 'utterance') this.#askedAt = at
  }

  /** `usage` of the effect: what it used. */
  inference({ created_at, error_code = null, usage = [] }: InferenceEffect): void {
    const tokens = (...meters: readonly string[]) =>
      usage.filter(used => meters.includes(used.meter)).reduce((sum, { quantity }) => sum + quantity, 0)
    const model = usage.find(({ meter }) => meter.startsWith('llm_'))
    this.#wait({
      name: model?.model_id == null ? 'chat' : `chat ${model.model_id}`,
      kind: 'client',
      startMs: Date.parse(created_at),
      endMs: this.#options.wallClock(),
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...(model?.provider != null && { 'gen_ai.provider.name': model.provider }),
        ...(model?.model_id != null && { 'gen_ai.request.model': model.model_id }),
        ...(model !== undefined && {
          'gen_ai.usage.input_tokens': tokens('llm_input_tokens', 'llm_audio_input_tokens'),
          'gen_ai.usage.output_tokens': tokens('llm_output_tokens', 'llm_audio_output_tokens'),
        }),
        ...(error_code !== null && { 'error.type': error_code }),
      },
      error: error_code,
    })
  }

  /** Adds the run itself, once. */
  ended({ state, outcome }: Pick<RunEnding, 'state' | 'outcome'>): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const work of this.#waiting.splice(0)) this.#add(work, this.#ids.run)
    const kind = typeof outcome?.kind === 'string' ? outcome.kind : 'none'
    this.#add(
      {
        name: 'run',
        spanId: this.#ids.run,
        startMs: this.#beganAt,
        endMs: this.#options.wallClock(),
        attributes: {
          'parley.run_id': this.#options.runId,
          'parley.tenant_id': this.#options.tenantId,
          'parley.run.state': state,
          'parley.run.outcome': kind,
          'parley.run.turns': this.#turns,
        },
        error: state === 'failed' ? kind : null,
      },
      this.#options.waited ? this.#ids.request : null,
    )
  }

  #action({ action_id, effect_id, phase, duration_ms }: TimelineItem & { readonly kind: 'action' }, at: UnixMs): void {
    this.#wait({
      name: `execute_tool ${action_id}`,
      startMs: at - (duration_ms ?? 0),
      endMs: at,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': action_id,
        'gen_ai.tool.call.id': effect_id,
        ...(phase !== 'succeeded' && { 'error.type': phase }),
      },
      error: phase === 'succeeded' ? null : phase,
    })
  }

  /** In a text conversation an utterance of the agent answers the message before it. */
  #agentSpoke(item: AgentUtterance, at: UnixMs): void {
    this.#lastUtterance = item
    if (item.start_ms !== null || this.#askedAt === null) return
    this.#addTurn(this.#askedAt, at, item.index)
    this.#askedAt = null
  }

  /** When the first sample of the utterance was on the line; its turn is written after it was spoken. */
  #heardAt({ index, offset_ms }: TimelineItem & { readonly kind: 'turn' }, at: UnixMs): UnixMs {
    const spoken = this.#lastUtterance
    if (spoken?.index !== index || spoken.start_ms === null || offset_ms === null) return at
    return at - Math.max(0, offset_ms - spoken.start_ms)
  }

  #turn(heardAt: UnixMs, latency: TurnLatency, index: number): void {
    const startMs = heardAt - (latency.e2e ?? 0)
    const spanId = this.#addTurn(startMs, heardAt, index)
    let from = startMs
    for (const stage of STAGES) {
      const took: Ms | null = latency[stage]
      if (took === null) continue
      this.#add({ name: stage, startMs: from, endMs: from + took, attributes: {} }, spanId)
      from += took
    }
  }

  /** Adds a turn with what waited for it, and returns its id. */
  #addTurn(startMs: UnixMs, endMs: UnixMs, index: number): string {
    this.#turns++
    const spanId = newSpanId(this.#options.random)
    this.#add({ name: 'turn', spanId, startMs, endMs, attributes: { 'parley.turn.index': index } }, this.#ids.run)
    for (const work of this.#waiting.splice(0))
      this.#add(work, work.endMs >= startMs && work.startMs <= endMs ? spanId : this.#ids.run)
    return spanId
  }

  #wait(work: Work): void {
    this.#waiting.push(work)
    if (this.#waiting.length > MAX_WAITING) this.#add(this.#waiting.shift()!, this.#ids.run)
  }

  #add(work: Work, parentId: string | null): void {
    const { traceId } = this.#ids
    this.#options.onSpan({
      kind: 'internal',
      error: null,
      spanId: newSpanId(this.#options.random),
      ...work,
      traceId,
      parentId,
    })
  }
}
