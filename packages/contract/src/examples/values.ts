/** An example of a request and of its answer. */
export interface Example {
  /** Absent where requests have no body. */
  readonly body?: Readonly<Record<string, unknown>>
  /** The body of an answer with 2xx; of an event stream, the data of one event. */
  readonly answer: Readonly<Record<string, unknown>>
}

/** Examples by the id of their operation. */
export type Examples = Readonly<Record<string, Example>>

export const uuid = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
export const at = '2026-01-01T00:00:00.000Z'
export const sha256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
export const digest = `sha256:${sha256}`
export const identity = { model_id: 'gpt-5-mini', provider: 'openai', tier: 'frontier' }
export const agentRef = { tenant_id: uuid, kind: 'agent', id: 'ada' }
/** An e-mail address of a member. */
export const email = 'bea@example.com'
export const apiKey = { owner_id: uuid, environment: 'production', kind: 'api_key', id: uuid }
export const atRevision = { draft_id: uuid, expected_revision: 1 }
export const page = (item: unknown) => ({ items: [item], next_cursor: null })
