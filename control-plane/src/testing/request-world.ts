import type { OperationId } from '@parley/contract'
import { EXAMPLES, type Example } from '@parley/contract/testing'

/** The parts of a request as JSON; a part that the operation does not have is absent. */
export interface RequestParts {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: unknown
}

/** The answer to a request. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

/** An environment in which tests create resources through the API. */
export interface World {
  readonly tenantId: string
  /** Calls an operation with the admin key of the environment and expects 2xx. */
  call(id: OperationId, parts: RequestParts): Promise<Answer['body']>
  /** An unused name of lower-case letters and digits. */
  fresh(prefix: string): string
  /** Invites a person who accepts; returns the member's id. */
  member(): Promise<string>
  /** Claims a waiting run for a process that keeps it. */
  own(runId: string): Promise<void>
  /** Makes a delivery of an alert rule of which nobody knows whether it arrived, and returns its id. */
  uncertainDelivery(alertId: string): Promise<string>
  /** Cancels a waiting run and gives it a log of its inputs; returns its id. */
  recordedRun(runId: string): Promise<string>
  /** Starts all queued test runs, whose trials then wait. */
  startTestRuns(): Promise<void>
}

/**
 * The body of the operation's example with other members, most of them ids of new resources. Throws if the example lacks one of these: what
 * the document shows and what the tests send have the same members.
 */
export function exampleBody(id: OperationId, changes: Example['body'] = {}) {
  const { body }: Example = EXAMPLES[id]
  if (body === undefined) throw new Error(`requests of ${id} have no body`)
  const missing = Object.keys(changes).filter(name => !(name in body))
  if (missing.length > 0) throw new Error(`the example of ${id} has no ${missing.join(', ')}`)
  return { ...body, ...changes }
}

export async function newAgent(world: World, template = 'phone_outbound') {
  const body = { template, name: 'Ada', agent_id: world.fresh('agent') }
  const agent = await world.call('agents.create', { body })
  return { agent_id: String(agent.ref.id), draft_id: String(agent.draft.draft_id), expected_revision: 1 }
}

export async function publishedAgent(world: World, template?: string) {
  const { agent_id, ...draft } = await newAgent(world, template)
  await world.call('publications.publish', { params: { agent_id }, body: draft })
  return { agent_id, ...draft }
}
