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

/** Looks through the API's lists, and past it as the owner of the tables. */
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

function count(in_: Map<string, number>, mark: string): void {
  in_.set(mark, (in_.get(mark) ?? 0) + 1)
}

/** What is wrong with a create once everything is quiet: it is sent again for that, with its own key. */
export async function createFaults(create: KeyedCreate, counted: Counted, options: CreateOptions): Promise<string[]> {
  const found: string[] = []
  if (create.refused !== null) return [`not carried out: ${create.refused}`]
  const { listed, rows, stored } = counted
  for (const [where, times] of [
    ['in the list', listed.get(create.mark)],
    ['in the table', rows.get(create.mark)],
    ['among the stored answers', stored.get(create.idempotencyKey)],
  ] as const)
    if (times !== 1) found.push(`${times ?? 0} times ${where}`)
  const first = create.attempts.find(isDone)
  const again: KeyedCreate = { ...create, attempts: [] }
  await carryOut(again, { ...options, planted: 'nothing' })
  const replay = again.attempts.at(-1)
  if (replay?.status !== 200) found.push(`repeated with its key: ${replay?.status ?? 'no answer'}`)
  else if (replay.text !== first?.text) found.push('repeated with its key: another answer')
  return [...found, ...dishonesties(create)]
}

const isDone = ({ status }: Attempt) => status === 200 || status === 201

/** Whether it is known of an attempt that it did nothing. */
function didNothing({ status, error }: Attempt): boolean {
  return status === 0 || (error !== null && error.outcome === 'none' && error.details?.reason !== 'in_progress')
}

/** Every attempt's answer must have been the truth, and one that a client can go by. */
function dishonesties({ attempts }: KeyedCreate): string[] {
  const found = attempts.filter(attempt => !isFair(attempt)).map(attempt => `unfair: ${nameOf(attempt)}`)
  const done = attempts.findIndex(isDone)
  // A replay shows what an earlier attempt did: then not all of them can have done nothing.
  if (attempts[done]?.status === 200 && attempts.slice(0, done).every(didNothing))
    found.push('something had happened where every answer said that nothing had')
  return found
}

/** Done; lost; or refused with an envelope that says whether to come again, and when the database is away also that. */
function isFair({ status, error, hasRetryAfter }: Attempt): boolean {
  if (status === null || status === 0 || status === 200 || status === 201) return true
  if (error === null || !error.retryable) return false
  if (status === 500) return error.outcome === 'none' && hasRetryAfter
  return status === 504 ? error.outcome === 'unknown' : status === 409 || status === 429
}

/** For the figures: what an attempt came to. */
export function nameOf({ status, error }: Attempt): string {
  if (status === 0) return 'refused connection'
  if (status === null) return 'lost'
  const reason = error?.details?.reason
  return `${status}${error === null ? '' : ` ${reason ?? error.code}`}`
}
