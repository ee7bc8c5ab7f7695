import { Refusal } from '@parley/contract'
import { environmentsOf, makeSandbox, newKeySecret } from '@parley/store'
import type { Handlers } from '../context.ts'

/** Name of the first key of a sandbox. */
const FIRST_KEY_NAME = 'Sandbox admin'

export const environmentHandlers = {
  'environments.list': async (_, { db, scope }) => {
    const items = await environmentsOf(db, scope)
    return { status: 200, body: { items, selected: scope.environment === 'sandbox' ? 'sandbox' : 'production' } }
  },

  'environments.ensure_sandbox': async (_, context) => {
    const { db, scope, platform } = context
    context.auditResource({ kind: 'operation', id: 'environments/sandbox' })
    if (scope.environment !== 'production')
      throw new Refusal('forbidden', 'only a key of the production environment can create the sandbox', {
        reason: 'production_only',
      })
    const made = newKeySecret('sandbox', { bytes: platform.randomBytes })
    const key = await makeSandbox(db, FIRST_KEY_NAME, made)
    const environment = (await environmentsOf(db, scope)).find(one => one.environment === 'sandbox')
    if (environment === undefined)
      throw new TypeError('the sandbox was created or existed, and the list of environments does not have it')
    if (key === null) return { status: 200, body: { environment, key: null } }
    context.notifyAfterCommit('tenants', environment.tenant_id)
    return { status: 201, body: { environment, key: { ...key, secret: made.secret } } }
  },
} satisfies Partial<Handlers>
