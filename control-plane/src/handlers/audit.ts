import type { auditItem } from '@parley/contract'
import { type AuditRow, listAudit } from '@parley/store'
import type { z } from 'zod'
import type { Handlers } from '../context.ts'

type AuditItem = z.input<typeof auditItem>

export const auditHandlers = {
  'audit.list': async ({ query: { cursor, limit, after, before } }, { db, scope }) => {
    const { rows, next_cursor } = await listAudit(db, scope, { after, before, cursor: cursor ?? null, limit })
    return { status: 200, body: { items: rows.map(row => toItem(row, scope.tenant_id)), next_cursor } }
  },
} satisfies Partial<Handlers>

function toItem({ resource_kind, resource_id, ...row }: AuditRow, tenantId: string): AuditItem {
  const hasResource = resource_kind !== null && resource_id !== null
  // Items are written with the types of the contract (`AuditedResource`, `PrincipalRef`), so they match its schema.
  const resource = hasResource ? { tenant_id: tenantId, kind: resource_kind, id: resource_id } : null
  return { ...row, resource } as AuditItem
}
