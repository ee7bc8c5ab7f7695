import type { TestCase } from '@parley/contract'
import type { ConversationOptions, InputLog, LoggedRequest, TimelineItem } from '@parley/conversation'
import { digestOf, MODEL_AHEAD } from '@parley/conversation'
import type { Ms } from '@parley/kernel'
import type { GenerationEvent, GenerationRequest } from '@parley/providers'

const MAX_MOCKS = 50
const MAX_DELAY_MS: Ms = 60_000

interface RecordedOutcome {
  readonly outcome: 'succeeded' | 'failed' | 'uncertain'
  readonly body: unknown
  readonly error_code: string | null
  readonly durationMs: Ms
}

/** Answers of one request in a log, in order. */
interface RecordedRequest {
  readonly kind: string
  readonly digest: string
  readonly answers: unknown[]
  isComplete: boolean
}

/** The requests of a log with their answers. */
function requestsOf({ lines }: InputLog): RecordedRequest[] {
  const requests: RecordedRequest[] = []
  for (const line of lines) {
    if (line[0] === '!') requests.push({ kind: line[1], digest: line[2], answers: [], isComplete: false })
    if (line[0] !== '>' || line[1] !== 'answer') continue
    const [id, type, value] = line[4] as readonly [number, string, unknown]
    const request = requests[id - 1]
    if (type === 'answer') request?.answers.push(value)
    if (request !== undefined) request.isComplete ||= type === 'end' || !isModel(request)
  }
  return requests
}

function isModel({ kind }: { readonly kind: string }): boolean {
  return kind === 'model' || kind === MODEL_AHEAD
}

/** What the actions of a recorded run answered, as mocks: each answers once, in the order in which they were used. */
export function recordedMocks(log: InputLog, actionIds: readonly string[]): TestCase['mocks'] {
  const outcomes = requestsOf(log).filter(({ kind }) => kind === 'action')
  return outcomes.slice(0, MAX_MOCKS).flatMap(({ answers }, index): TestCase['mocks'] => {
    const action_id = actionIds[index]
    const recorded = answers[0] as RecordedOutcome | undefined
    if (action_id === undefined || recorded === undefined) return []
    return [{ action_id, when: [], respond: respondOf(recorded), times: 1 }]
  })
}

/** The actions that a run used, in order. */
export function startedActions(timeline: readonly TimelineItem[]): string[] {
  return timeline.flatMap(item => (item.kind === 'action' && item.phase === 'started' ? [item.action_id] : []))
}

function respondOf({ outcome, body, error_code, durationMs }: RecordedOutcome): TestCase['mocks'][number]['respond'] {
  const delay_ms = Math.min(MAX_DELAY_MS, Math.max(0, Math.round(durationMs)))
  if (outcome === 'uncertain') return { kind: 'error', error: 'timeout', delay_ms }
  const status = Number(/^http_(\d{3})$/.exec(error_code ?? '')?.[1] ?? (outcome === 'succeeded' ? 200 : 0))
  if (status === 0) return { kind: 'error', error: 'network', delay_ms }
  return { kind: 'response', status, body: (body ?? null) as never, delay_ms }
}

/** Models that give the recorded answer to a recorded request, and ask the agent's own for any other. */
export function recordedModels(log: InputLog, models: ConversationOptions['models']): ConversationOptions['models'] {
  const known = new Map(
    requestsOf(log).flatMap(request => (isModel(request) && request.isComplete ? [[request.digest, request]] : [])),
  )
  return ref => {
    const model = models(ref)
    const { identity } = model
    return {
      identity,
      readiness: () => model.readiness(),
      async *generate(request, signal) {
        const recorded = known.get(digestOf({ identity, ...request }))
        if (recorded === undefined) yield* model.generate(request, signal)
        else yield* recorded.answers as GenerationEvent[]
      },
      close: async () => {},
    }
  }
}

/** What the model answers to another request than the recorded one; null: it may answer differently each time. */
export function deterministicAnswers(models: ConversationOptions['models']) {
  return async (logged: LoggedRequest<never>): Promise<readonly GenerationEvent[] | null> => {
    if (!isModel(logged)) return null
    const model = models(null)
    if (model.identity.model !== 'rules-1') return null
    const request = logged.request as GenerationRequest
    const events: GenerationEvent[] = []
    for await (const event of model.generate(request, new AbortController().signal)) events.push(event)
    return events
  }
}
