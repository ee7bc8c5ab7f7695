import { Refusal, type secret } from '@parley/contract'
import {
  deleteSecret,
  ENVIRONMENT_LIMITS,
  insertTombstone,
  listSecrets,
  putSecret,
  type SecretRow,
  tombstoneOf,
} from '@parley/store'
import type { z } from 'zod'
import type { Handlers } from '../context.ts'

type Secret = z.input<typeof secret>

export const secretHandlers = {
  'secrets.list': async ({ query: { cursor, limit } }, { db, scope }) => {
    const { rows, next_cursor } = await listSecrets(db, scope, { cursor: cursor ?? null, limit })
    return { status: 200, body: { items: rows.map(toSecret), next_cursor } }
  },

  'secrets.put': async ({ params: { secret_id }, body: { kind, value } }, context) => {
    context.auditResource({ kind: 'secret', id: secret_id })
    const put = await putSecret(context.db, context.scope, context.platform.sealer, { secret_id, kind, value })
    if (put === 'kind_mismatch')
      throw new Refusal(
        'conflict',
        `secret "${secret_id}" exists and is not of kind ${kind}: delete it first, or use another id`,
        {
          reason: 'kind_mismatch',
        },
      )
    if (put === 'limit_reached')
      throw new Refusal('conflict', `the environment has ${ENVIRONMENT_LIMITS.secrets} secrets: delete one first`, {
        reason: 'limit_reached',
      })
    return { status: 200, body: toSecret(put) }
  },

  'secrets.delete': async ({ params: { secret_id }, query: { force } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'secret', id: secret_id })
    const deleted = await deleteSecret(db, scope, secret_id, force)
    if (deleted === null) {
      const tombstone = await tombstoneOf(db, scope, 'secret', secret_id)
      if (tombstone === null) throw new Refusal('not_found', `there is no secret "${secret_id}"`)
      return { status: 200, body: tombstone as Secret }
    }
    if ('references' in deleted)
      throw new Refusal(
        'conflict',
        `secret "${secret_id}" is in use, see details.references: remove the references, or delete it with force=true`,
        {
          reason: 'secret_in_use',
          details: { references: deleted.references.map(({ kind, id }) => ({ kind, id })) },
        },
      )
    const body = toSecret(deleted)
    await insertTombstone(db, scope, 'secret', secret_id, body)
    return { status: 200, body }
  },
} satisfies Partial<Handlers>

function toSecret({ version, versions, version_times, ...secret }: SecretRow): Secret {
  return {
    ...secret,
    version: String(version),
    versions: versions.map((one, index) => ({ version: String(one), created_at: version_times[index]! })),
  }
}
