import { ParleyClient } from '@parley/client'
import { Client } from 'pg'
import { type Attempt, type CreateOptions, carryOut, type KeyedCreate, type Kind } from './keyed-creates.ts'

/** Counts by mark: resources that the API lists, rows in the tables, and stored answers by idempotency key. */
interface Counted {
  readonly listed: ReadonlyMap<string, number>
  readonly rows: ReadonlyMap<string, number>
  readonly stored: ReadonlyMap<string, number>
}

const ROWS: Readonly<Record<Kind, string>> = {
  agent: 'select name as mark from parley.agents',
  key: 'select name as mark from parley.api_keys',
  trunk: 'select name as mark from parley.trunks',
  number: 'select phone_number as mark from parley.numbers',
}

/** Counts in the lists of the API, and in the tables as their owner. */
export async function countCreated(url: string, key: string, ownerUrl: string): Promise<Counted> {
  const client = new ParleyClient({ baseUrl: url, key, retries: 10 })
  const query = { limit: 100 }
  const listed = new Map<string, number>()
  for await (const { name } of client.agents.list.all({ query })) count(listed, name)
  for await (const { name } of client.keys.list.all({ query })) count(listed, name)
  for await (const { name } of client.trunks.list.all({ query })) count(listed, name)
  for await (const { phone_number } of client.numbers.list.all({ query })) count(listed, phone_number)
  const rows = new Map<string, number>()
  const stored = new Map<string, number>()
  const owner = new Client({ connectionString: ownerUrl })
  await owner.connect()
  try {
    for (const text of Object.values(ROWS)) for (const row of (await owner.query(text)).rows) count(rows, row.mark)
    for (const row of (await owner.query('select key from parley.idempotency')).rows) count(stored, row.key)
  } finally {
    await owner.end()
  }
  return { listed, rows, stored }
}

function count(counts: Map<string, number>, mark: string): void {
  counts.set(mark, (counts.get(mark) ?? 0) + 1)
}

/** Faults of a create after the load has ended. The request is repeated with its key, which must return the stored answer. */
export async function createFaults(create: KeyedCreate, counted: Counted, options: CreateOptions): Promise<string[]> {
  const found: string[] = []
  if (create.refused !== null) return [`the client gave up: ${create.refused}`]
  const { listed, rows, stored } = counted
  for (const [where, times] of [
    ['in the list', listed.get(create.mark)],
    ['in the table', rows.get(create.mark)],
    ['among the stored answers', stored.get(create.idempotencyKey)],
  ] as const)
    if (times !== 1) found.push(`${times ?? 0} times ${where}`)
  const first = create.attempts.find(isDone)
  const repeated: KeyedCreate = { ...create, attempts: [] }
  await carryOut(repeated, { ...options, planted: 'nothing' })
  const replay = repeated.attempts.at(-1)
  if (replay?.status !== 200)
    found.push(`the request repeated with its key has the status ${replay?.status ?? 'none (no answer)'}`)
  else if (replay.text !== first?.text) found.push('the request repeated with its key has another answer')
  return [...found, ...falseAnswers(create)]
}

const isDone = ({ status }: Attempt) => status === 200 || status === 201

/** Whether the answer to an attempt says that it had no effect. */
function hadNoEffect({ status, error }: Attempt): boolean {
  return status === 0 || (error !== null && error.outcome === 'none' && error.details?.reason !== 'in_progress')
}

/** Answers that were not true, or that do not tell a client what to do. */
function falseAnswers({ attempts }: KeyedCreate): string[] {
  const found = attempts
    .filter(attempt => !isUsable(attempt))
    .map(attempt => `the answer does not tell a client what to do: ${nameOf(attempt)}`)
  const done = attempts.findIndex(isDone)
  // A replayed answer proves that an earlier attempt took effect.
  if (attempts[done]?.status === 200 && attempts.slice(0, done).every(hadNoEffect))
    found.push('an attempt took effect although every answer said that it did not')
  return found
}

/** Succeeded, lost, or refused with an envelope that says whether to retry, and during an outage also when. */
function isUsable({ status, error, hasRetryAfter }: Attempt): boolean {
  if (status === null || status === 0 || status === 200 || status === 201) return true
  if (error === null || !error.retryable) return false
  if (status === 500) return error.outcome === 'none' && hasRetryAfter
  return status === 504 ? error.outcome === 'unknown' : status === 409 || status === 429
}

/** Name of an attempt's result, for the report. */
export function nameOf({ status, error }: Attempt): string {
  if (status === 0) return 'refused connection'
  if (status === null) return 'lost'
  const reason = error?.details?.reason
  return `${status}${error === null ? '' : ` ${reason ?? error.code}`}`
}
