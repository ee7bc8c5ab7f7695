import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { type KeysetColumn, type Page, readPage } from './keyset.ts'
import { PreparedQuery } from './prepared-query.ts'
import type { Queries } from './protocol.ts'
import type { StoredPrincipal } from './stored-principal.ts'

/** An audit entry to be written: who did what. */
interface AuditEntry {
  readonly principal: StoredPrincipal
  /** The operation's id, or the name of an action of staff or of a job. */
  readonly action: string
  readonly resource: { readonly kind: string; readonly id: string } | null
  readonly outcome: 'allowed' | 'denied' | 'failed'
  readonly request_id: string | null
}

/** A stored audit entry. */
export interface AuditRow extends Omit<AuditEntry, 'resource'> {
  readonly audit_id: string
  readonly occurred_at: string
  readonly resource_kind: string | null
  readonly resource_id: string | null
}

interface AuditFilter {
  /** ISO time; includes its instant. */
  readonly after?: string | undefined
  /** ISO time; does not include its instant. */
  readonly before?: string | undefined
  readonly cursor: string | null
  readonly limit: number
}

const NEWEST_FIRST: readonly KeysetColumn<AuditRow>[] = [
  { column: 'occurred_at', type: 'instant', direction: 'desc' },
  { column: 'audit_id', type: 'uuid', direction: 'asc' },
]

/** Writes an audit entry in the transaction of the action. */
export async function writeAudit(tx: Queries, scope: Scope, entry: AuditEntry): Promise<void> {
  await newEntry.execute(tx, {
    tenant_id: scope.tenant_id,
    principal: JSON.stringify(entry.principal),
    action: entry.action,
    resource_kind: entry.resource?.kind ?? null,
    resource_id: entry.resource?.id ?? null,
    outcome: entry.outcome,
    request_id: entry.request_id,
  })
}

interface NewEntry extends Omit<AuditRow, 'audit_id' | 'occurred_at' | 'principal'> {
  readonly tenant_id: string
  /** JSON. */
  readonly principal: string
}

const newEntry = new PreparedQuery(
  (db, { tenant_id, principal, action, resource_kind, resource_id, outcome, request_id }: NewEntry) =>
    db.insertInto('audit').values({ tenant_id, principal, action, resource_kind, resource_id, outcome, request_id }),
)

/** Lists audit entries, newest first. Throws the refusal `invalid_cursor`. */
export function listAudit(db: Queries, scope: Scope, filter: AuditFilter): Promise<Page<AuditRow>> {
  const { after, before } = filter
  let query = db
    .selectFrom('audit')
    .select(['audit_id', 'occurred_at', 'principal', 'action', 'resource_kind', 'resource_id', 'outcome', 'request_id'])
    .where('tenant_id', '=', scope.tenant_id)
  if (after !== undefined) query = query.where('occurred_at', '>=', sql<string>`${after}::timestamptz`)
  if (before !== undefined) query = query.where('occurred_at', '<', sql<string>`${before}::timestamptz`)
  const binding = {
    operation: 'audit.list',
    tenantId: scope.tenant_id,
    filters: { after, before },
    sort: 'occurred_desc',
  }
  return readPage(query, NEWEST_FIRST, binding, filter)
}
