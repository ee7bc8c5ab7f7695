import type { UnixMs } from '@parley/kernel'
import { CappedMap } from '../service/capped-map.ts'
import { type Service, type ServiceAnswer, type ServiceRequest, textOf } from '../service/service.ts'
import { isSignedBy } from './signed-by.ts'

/** An agent's webhook with a valid signature. */
export interface ReceivedEvent {
  readonly event: string
  readonly event_id: string
  readonly run_id: string
  /** State of the run when it happened. */
  readonly state: string
  readonly occurred_at: string
  readonly received_at: string
}

const MAX_EVENTS = 1000

/** Receives the webhooks of agents: one signed with its secret is stored once; everything else is refused. In memory. */
export class WebhookInbox implements Service {
  readonly operations = {
    'POST /': (request: ServiceRequest) => this.#receive(request),
    'GET /': (request: ServiceRequest) => this.#list(request),
  }
  readonly refusals = {
    unknown: 'There is nothing here but webhooks: POST one, or GET them, with ?run_id=…',
    unreadable: 'That is no JSON object.',
    tooLarge: 'That is too large for a webhook.',
    broken: 'The webhook could not be taken: send it again.',
  }
  readonly #secret: string | null
  readonly #wallClock: () => UnixMs
  readonly #events = new CappedMap<string, ReceivedEvent>(MAX_EVENTS)

  /** `secret` null: all webhooks are refused. */
  constructor(secret: string | null, wallClock: () => UnixMs) {
    this.#secret = secret
    this.#wallClock = wallClock
  }

  /** The oldest first. */
  get events(): readonly ReceivedEvent[] {
    return this.#events.values()
  }

  #receive({ signature, content, body }: ServiceRequest): ServiceAnswer {
    const now = this.#wallClock()
    if (this.#secret === null || signature === null || !isSignedBy(this.#secret, signature, content, now))
      return answer(401, 'The signature does not prove who sent this.')
    const id = textOf(body.event_id)
    if (id === '') return answer(400, 'A webhook has an event_id.')
    // A repeated webhook, whose answer was lost, is stored once.
    if (this.#events.get(id) !== undefined) return answer(200, 'Known already.')
    const run = typeof body.run === 'object' && body.run !== null ? (body.run as Record<string, unknown>) : {}
    this.#events.set(id, {
      event: textOf(body.event),
      event_id: id,
      run_id: textOf(run.run_id),
      state: textOf(run.state),
      occurred_at: textOf(body.occurred_at),
      received_at: new Date(now).toISOString(),
    })
    return answer(200, 'Taken.')
  }

  #list({ query }: ServiceRequest): ServiceAnswer {
    const runId = query.get('run_id')
    const events = this.events.filter(({ run_id }) => runId === null || run_id === runId)
    return { status: 200, body: { message: `${events.length} webhooks with a valid signature.`, events } }
  }
}

function answer(status: number, message: string): ServiceAnswer {
  return { status, body: { message } }
}
