import type { Scope } from '@parley/contract'
import { sql } from 'kysely'

/** Runs one prepared statement outside of any tenant's scope. `name` is the statement's, unique in the process. */
export type RunStatement = (name: string, text: string, values: readonly unknown[]) => Promise<{ rows: unknown[] }>

/** The rows of a statement with their columns `owner_id`, `environment` and `tenant_id` combined into `scope`. */
export function scopedRows<Row extends { readonly scope: Scope }>(rows: readonly unknown[]): Row[] {
  return (rows as readonly (Scope & Omit<Row, 'scope'>)[]).map(
    ({ owner_id, environment, tenant_id, ...row }) =>
      ({ ...row, scope: { owner_id, environment, tenant_id } }) as unknown as Row,
  )
}

/** The time at which the statement began, in milliseconds: columns that one statement sets have the same time. */
export const statementTime = sql<string>`date_trunc('milliseconds', statement_timestamp())`
