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
    /** The operation's id, or what staff or a job did. */
    action: text(1, 128).regex(/^[a-z][a-z0-9_.:-]*$/, 'a lower-case letter, then lower-case letters, digits, _ . : -'),
    resource: z.strictObject({ tenant_id: uuid, kind: resourceKind, id: text(1, 512) }).nullable(),
    outcome: z.enum(['allowed', 'denied', 'failed']),
    request_id: text(0, 256).nullable(),
  })
  .meta({ id: 'AuditItem' })

export const listAudit = operation({
  id: 'audit.list',
  method: 'GET',
  path: '/api/v1/audit',
  summary: 'List who did what in this environment, newest first',
  role: 'admin',
  idempotency: 'none',
  params: null,
  /** `after` includes its instant, `before` does not. */
  query: listQuery({ after: instant.optional(), before: instant.optional() }),
  body: null,
  output: page(auditItem),
  statuses: [200],
  refusals: {},
})
