import { createHash } from 'node:crypto'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { QueryResult as PgResult, PoolClient } from 'pg'
import { StoreError } from '../errors.ts'
import { preparedStatements, type Statement } from './statement-batch.ts'

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

export const BEGIN: Statement = {
  name: 'parley_begin',
  text: 'begin isolation level read committed, read write',
  values: [],
}
export const COMMIT: Statement = { name: 'parley_commit', text: 'commit', values: [] }
export const ROLLBACK: Statement = { name: 'parley_rollback', text: 'rollback', values: [] }

/** The scope of the transaction; it ends with the transaction. */
export function scopeStatement({ tenant, owner }: TenantContext): Statement {
  return {
    name: 'parley_scope',
    text: "select set_config('parley.tenant', $1, true), set_config('parley.owner', $2, true)",
    values: [tenant, owner],
  }
}

/** As `scopeStatement`, and the transaction cannot write. */
export function readOnlyScopeStatement({ tenant, owner }: TenantContext): Statement {
  return {
    name: 'parley_read_scope',
    text: "select set_config('parley.tenant', $1, true), set_config('parley.owner', $2, true), set_config('transaction_read_only', 'on', true)",
    values: [tenant, owner],
  }
}

/** Whether the connection has so many prepared statements that a new connection is cheaper. */
export function isWornOut(client: PoolClient): boolean {
  return preparedStatements(client) > MAX_STATEMENTS
}

/** A statement with a name derived from its text. */
export function statementOf({ sql, parameters }: CompiledQuery): Statement {
  return { name: nameOf(sql), text: sql, values: parameters }
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

function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    if (names.size >= MAX_NAMES) names.clear()
    name = `q_${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`
    names.set(text, name)
  }
  return name
}
