import { Refusal } from '@parley/contract'
import {
  cancelRunsOfKey,
  ENVIRONMENT_LIMITS,
  insertKey,
  keyExists,
  listKeys,
  newKeySecret,
  replaceKeySecret,
  revokeKey,
} from '@parley/store'
import type { AuditedResource, Handlers } from '../context.ts'
import { invalid } from './invalid-request.ts'

export const keyHandlers = {
  'keys.list': async ({ query: { cursor, limit } }, { db, scope }) => {
    const { rows, next_cursor } = await listKeys(db, scope, { cursor: cursor ?? null, limit })
    return { status: 200, body: { items: rows, next_cursor } }
  },

  'keys.create': async ({ body: { name, role, can_dial, expires_at } }, context) => {
    const { db, scope, platform } = context
    const expires = expires_at === undefined ? null : Date.parse(expires_at)
    if (expires !== null && expires <= platform.now()) throw invalid('/expires_at', 'is not in the future')
    const made = newKeySecret(scope.environment, { bytes: platform.randomBytes })
    const values = { name, role, can_dial, expires_at: expires === null ? null : new Date(expires).toISOString() }
    const key = await insertKey(db, scope, values, made)
    if (key === null)
      throw new Refusal('conflict', `the environment has ${ENVIRONMENT_LIMITS.keys} active keys: revoke one first`, {
        reason: 'limit_reached',
      })
    context.auditResource(ofKey(key.key_id))
    return { status: 201, body: { ...key, secret: made.secret } }
  },

  'keys.revoke': async ({ params: { key_id } }, context) => {
    context.auditResource(ofKey(key_id))
    const key = await revokeKey(context.db, context.scope, key_id)
    if (key === null) throw noKey(key_id)
    // Runs that the key created and that have not started never start.
    for (const runId of await cancelRunsOfKey(context.db, context.scope, key_id)) {
      context.notifyAfterCommit('run_orders', runId)
      context.notifyAfterCommit('runs', runId)
    }
    context.notifyAfterCommit('keys', key_id)
    return { status: 200, body: key }
  },

  'keys.rotate': async ({ params: { key_id }, body: { overlap_seconds } }, context) => {
    const { db, scope, platform } = context
    context.auditResource(ofKey(key_id))
    const made = newKeySecret(scope.environment, { bytes: platform.randomBytes })
    const key = await replaceKeySecret(db, scope, key_id, made, overlap_seconds)
    if (key !== null) {
      context.notifyAfterCommit('keys', key_id)
      return { status: 200, body: { ...key, secret: made.secret } }
    }
    if (!(await keyExists(db, scope, key_id))) throw noKey(key_id)
    throw new Refusal('conflict', 'the key is revoked or expired: create another key', { reason: 'key_revoked' })
  },
} satisfies Partial<Handlers>

function ofKey(keyId: string): AuditedResource {
  return { kind: 'operation', id: `keys/${keyId}` }
}

function noKey(keyId: string): Refusal {
  return new Refusal('not_found', `there is no key ${keyId}`)
}
