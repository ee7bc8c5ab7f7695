import type { callLimit } from '@parley/contract'
import { type CallLimitRow, readCallLimit, writeCallLimit } from '@parley/store'
import type { z } from 'zod'
import type { Handlers } from '../context.ts'

export const callLimitHandlers = {
  'call_limits.get': async (_, { db, scope }) => ({ status: 200, body: toCallLimit(await readCallLimit(db, scope)) }),

  'call_limits.update': async ({ body: { daily_limit } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'operation', id: 'telephony/call-limit' })
    const written = await writeCallLimit(db, scope, daily_limit)
    context.notifyAfterCommit('tenants', scope.tenant_id)
    return { status: 200, body: toCallLimit(written) }
  },
} satisfies Partial<Handlers>

function toCallLimit({ daily_call_limit: limit, calls_last_24h, as_of }: CallLimitRow): z.input<typeof callLimit> {
  const remaining = limit === null ? null : Math.max(0, limit - calls_last_24h)
  return { daily_limit: limit, calls_last_24h, remaining, as_of }
}
