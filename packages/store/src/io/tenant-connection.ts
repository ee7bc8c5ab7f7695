import { createHash } from 'node:crypto'
import type { Writable } from 'node:stream'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { QueryResult as PgResult, PoolClient } from 'pg'
import { StoreError } from '../errors.ts'

const SET_TENANT = {
  name: 'parley_scope',
  text: "select set_config('parley.tenant', $1, true), set_config('parley.owner', $2, true)",
}

/** Most prepared statements of one connection; beyond them it is closed when it returns to the pool. */
const MAX_STATEMENTS = 500
/** Most cached statement names. A name is the digest of its text, so that a lost entry costs one digest. */
const MAX_NAMES = 2000
const names = new Map<string, string>()

/** Sets the tenant whose rows a connection can see. */
export interface TenantContext {
  readonly tenant: string
  readonly owner: string
}

/** Prepared statements of each connection. */
const statementsOf = new WeakMap<PoolClient, Set<string>>()

/** Whether the connection has so many prepared statements that a new connection is cheaper. */
export function isWornOut(client: PoolClient): boolean {
  return (statementsOf.get(client)?.size ?? 0) > MAX_STATEMENTS
}

/** A statement with a name derived from its text, so that Postgres parses it once per connection. */
export function send(client: PoolClient, query: CompiledQuery): Promise<PgResult> {
  return client.query({ name: nameFor(client, query.sql), text: query.sql, values: [...query.parameters] })
}

/** Begins a transaction in this tenant. */
export function sendBegin(
  client: PoolClient,
  mode: 'read only' | 'read write',
  context: TenantContext,
): Promise<unknown>[] {
  return [
    client.query(`begin isolation level read committed, ${mode}`),
    client.query({ ...SET_TENANT, values: [context.tenant, context.owner] }),
  ]
}

/**
 * Sends the messages that `queue` queues in one write to the socket, with those of other statements that the same callback began. The
 * client would write each message by itself, and system calls would be half of the cost of a read.
 */
export function inOneWrite<Result>(client: PoolClient, queue: () => Result): Result {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  stream.cork()
  try {
    return queue()
  } finally {
    // After the promises that are settled now, whose reactions may send statements that belong together.
    process.nextTick(() => stream.uncork())
  }
}

export function toResult<Row>(result: PgResult): QueryResult<Row> {
  const rows = result.rows as Row[]
  if (result.command === 'SELECT' || result.rowCount === null) return { rows }
  return { rows, numAffectedRows: BigInt(result.rowCount) }
}

/** Kysely's interface of a connection; results are always complete, never streamed. */
export abstract class WholeAnswers implements DatabaseConnection {
  abstract executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>>

  // biome-ignore lint/correctness/useYield: kysely's interface; no stream is offered
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new StoreError('not_supported', 'rows are not streamed: read them by pages')
  }
}

function nameFor(client: PoolClient, text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    if (names.size >= MAX_NAMES) names.clear()
    name = `q_${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`
    names.set(text, name)
  }
  const kept = statementsOf.get(client)
  if (kept === undefined) statementsOf.set(client, new Set([name]))
  else kept.add(name)
  return name
}
