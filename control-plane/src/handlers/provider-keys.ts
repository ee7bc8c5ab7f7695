import { ownKeyProvider, Refusal } from '@parley/contract'
import {
  deleteProviderKey,
  dropTombstone,
  insertTombstone,
  listProviderKeys,
  type ProviderKeyRow,
  putProviderKey,
  tombstoneOf,
} from '@parley/store'
import type { Handlers, KeyVerdict } from '../context.ts'
import { invalid } from './invalid-request.ts'

export const providerKeyHandlers = {
  'provider_keys.list': async ({ query: { cursor, limit } }, { db, scope }) => {
    const { rows, next_cursor } = await listProviderKeys(db, scope, { cursor: cursor ?? null, limit })
    return { status: 200, body: { items: rows, next_cursor } }
  },

  'provider_keys.put': async ({ params, body: { key, endpoint = null } }, context) => {
    const { scope, platform } = context
    const provider = providerNamed(params.provider)
    context.auditResource({ kind: 'operation', id: `provider-keys/${provider}` })
    if (provider === 'openai_compatible' && endpoint === null)
      throw invalid('/endpoint', 'is missing: openai_compatible needs the base URL of the service')
    if (provider !== 'openai_compatible' && endpoint !== null)
      throw invalid('/endpoint', 'is for openai_compatible only; leave it out')
    if (endpoint !== null && !isAllowedEndpoint(endpoint, platform.allowsPlainHttp))
      throw invalid('/endpoint', ENDPOINT_FORM, 'address_not_allowed')
    const verdict = await platform.checkProviderKey({ provider, key, endpoint })
    if (verdict.outcome !== 'accepted') throw refusalOf(verdict, provider)
    const { models } = verdict
    const row = await context.transact(async tx => {
      const stored = await putProviderKey(tx, scope, platform.sealer, { provider, key, endpoint, models })
      await dropTombstone(tx, scope, 'provider_key', provider)
      return stored
    })
    return { status: 200, body: row }
  },

  'provider_keys.delete': async ({ params }, context) => {
    const { db, scope } = context
    const provider = providerNamed(params.provider)
    context.auditResource({ kind: 'operation', id: `provider-keys/${provider}` })
    const deleted = await deleteProviderKey(db, scope, provider)
    if (deleted !== null) {
      await insertTombstone(db, scope, 'provider_key', provider, { ...deleted })
      return { status: 200, body: deleted }
    }
    const tombstone = await tombstoneOf(db, scope, 'provider_key', provider)
    if (tombstone === null) throw new Refusal('not_found', `the environment has no key of its own for ${provider}`)
    return { status: 200, body: tombstone as unknown as ProviderKeyRow }
  },
} satisfies Partial<Handlers>

const ENDPOINT_FORM = 'must be https without a user, query or fragment, or an http host and port of PARLEY_EGRESS_ALLOW'

function providerNamed(name: string) {
  const known = ownKeyProvider.safeParse(name)
  if (known.success) return known.data
  throw new Refusal('not_found', `there is no provider "${name}"; known are ${ownKeyProvider.options.join(', ')}`)
}

function isAllowedEndpoint(endpoint: string, allowsPlainHttp: (url: URL) => boolean): boolean {
  const url = new URL(endpoint)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return false
  return url.protocol === 'https:' || allowsPlainHttp(url)
}

function refusalOf(verdict: Exclude<KeyVerdict, { outcome: 'accepted' }>, provider: string): Refusal {
  switch (verdict.outcome) {
    case 'rejected':
      return invalid('/key', `${provider} refuses the key (HTTP ${verdict.status})`, 'provider_key_rejected')
    case 'address_not_allowed':
      return invalid('/endpoint', 'names an address that may not be contacted', 'address_not_allowed')
    case 'unreachable':
      return new Refusal(
        'provider_unavailable',
        `${provider} could not check the key: ${verdict.reason}; nothing was stored`,
      )
  }
}
