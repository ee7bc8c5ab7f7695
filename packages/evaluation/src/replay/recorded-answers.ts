import type { TestCase } from '@parley/contract'
import type { ConversationOptions, InputLog, LoggedRequest, TimelineItem } from '@parley/conversation'
import { digestOf } from '@parley/conversation'
import type { Ms } from '@parley/kernel'
import type { GenerationEvent, LanguageModel } from '@parley/providers'

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
    if (request !== undefined) request.isComplete ||= type === 'end' || request.kind !== 'model'
  }
  return requests
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
    requestsOf(log).flatMap(request =>
      request.kind === 'model' && request.isComplete ? [[request.digest, request]] : [],
    ),
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

/** Whether a deterministic model gives the recorded answer to another request. */
export function deterministicAnswers(models: ConversationOptions['models']) {
  return async ({ kind, request }: LoggedRequest<never>, recorded: readonly unknown[]): Promise<boolean> => {
    if (kind !== 'model') return false
    const model = models(null)
    if (model.identity.model !== 'rules-1') return false
    const events = await answerOf(model, request as Parameters<LanguageModel['generate']>[0])
    return textOf(events) === textOf(recorded as readonly GenerationEvent[])
  }
}

async function answerOf(model: LanguageModel, request: Parameters<LanguageModel['generate']>[0]) {
  const events: GenerationEvent[] = []
  for await (const event of model.generate(request, new AbortController().signal)) events.push(event)
  return events
}

/** What the agent says and does by an answer. */
function textOf(events: readonly GenerationEvent[]): string {
  const text = events.map(event => (event.type === 'text' ? event.delta : '')).join('')
  const calls = events.flatMap(event => (event.type === 'tool-call' ? [[event.call.name, event.arguments]] : []))
  return JSON.stringify([text, calls])
}
