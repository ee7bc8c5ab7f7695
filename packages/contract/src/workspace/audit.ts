import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { uuid } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { principalRef } from '../values/references.ts'
import { instant, timestamp } from '../values/time.ts'

const resourceKind = z.enum([
  'agent',
  'publication',
  'run',
  'document',
  'knowledge_generation',
  'evaluation',
  'comparison',
  'trunk',
  'phone_number',
  'secret',
  'operation',
  'model',
  'gpu_host',
  'gpu_deployment',
])

export const auditItem = z
  .strictObject({
    audit_id: uuid,
    occurred_at: timestamp,
    principal: principalRef,
    /** The id of the operation, or the action of staff or a job. */
    action: text(1, 128).regex(/^[a-z][a-z0-9_.:-]*$/, 'a lower-case letter, then lower-case letters, digits, _ . : -'),
    resource: z.strictObject({ tenant_id: uuid, kind: resourceKind, id: text(1, 512) }).nullable(),
    outcome: z.enum(['allowed', 'denied', 'failed']),
    request_id: text(0, 256).nullable(),
  })
  .meta({ id: 'AuditItem' })

const listAudit = operation({
  id: 'audit.list',
  method: 'GET',
  path: '/api/v1/audit',
  summary: 'List the audit log of this environment, newest first',
  role: 'admin',
  idempotency: 'none',
  params: null,
  /** `after` is inclusive, `before` is exclusive. */
  query: listQuery({ after: instant.optional(), before: instant.optional() }),
  body: null,
  output: page(auditItem),
  statuses: [200],
  refusals: {},
})

export const auditOperations = [listAudit] as const
