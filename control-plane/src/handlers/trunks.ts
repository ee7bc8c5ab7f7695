import { type InputOf, type OperationNamed, Refusal, type trunk } from '@parley/contract'
import {
  concurrentCapacity,
  deleteTrunk,
  ENVIRONMENT_LIMITS,
  insertTombstone,
  insertTrunk,
  listTrunks,
  lockedTrunk,
  lockPinnedSecret,
  numbersOn,
  type TrunkRow,
  type TrunkSettings,
  tombstoneOf,
  trunkHealth,
  trunkOf,
  writeTrunk,
} from '@parley/store'
import type { z } from 'zod'
import type { Context, Handlers, Platform } from '../context.ts'
import { invalid } from './invalid-request.ts'

type Trunk = z.input<typeof trunk>
type SecretPin = NonNullable<Trunk['auth_secret']>

/** 128 bits; written as hex, which a label of a host name may hold as well. */
const TOKEN_BYTES = 16
/** Maximum of numbers that the refusal to delete a trunk lists. */
const MAX_LISTED_NUMBERS = 200

export const trunkHandlers = {
  'trunks.list': async ({ query: { cursor, limit } }, { db, scope, platform }) => {
    const { rows, next_cursor } = await listTrunks(db, scope, { cursor: cursor ?? null, limit })
    return { status: 200, body: { items: rows.map(row => toTrunk(row, platform)), next_cursor } }
  },

  'trunks.create': async ({ body }, context) => {
    const { db, scope, platform } = context
    const { auth_secret, ...settings } = body
    context.auditResource({ kind: 'trunk', id: body.trunk_id })
    if ((await concurrentCapacity(db, scope)) === null)
      throw new Refusal(
        'capability_unavailable',
        'the call capacity of this environment is not set: platform staff can set it',
        {
          reason: 'tenant_not_configured',
        },
      )
    refuseHost(body.termination_uri, platform)
    await lockSipSecret(context, auth_secret)
    const made = await insertTrunk(db, scope, {
      ...settings,
      auth_secret_id: auth_secret.id,
      auth_secret_version: auth_secret.version,
      inbound_token: body.inbound ? newToken(platform) : null,
    })
    if (typeof made === 'string') throw creationRefused(made, body.trunk_id)
    context.notifyAfterCommit('telephony', body.trunk_id)
    return { status: 201, body: toTrunk(made, platform) }
  },

  'trunks.get': async ({ params: { trunk_id } }, { db, scope, platform }) => {
    const trunk = await trunkOf(db, scope, trunk_id)
    if (trunk === null) throw noTrunk(trunk_id)
    return { status: 200, body: { ...toTrunk(trunk, platform), health: await trunkHealth(db, scope, trunk_id) } }
  },

  'trunks.update': async ({ params: { trunk_id }, body }, context) => {
    const { db, scope, platform } = context
    context.auditResource({ kind: 'trunk', id: trunk_id })
    // Secrets are locked before trunks, in the same order as when a trunk is created.
    if (body.auth_secret && (await trunkOf(db, scope, trunk_id)) !== null)
      await lockSipSecret(context, body.auth_secret)
    const before = await lockedTrunk(db, scope, trunk_id)
    if (before === null) throw noTrunk(trunk_id)
    if (body.termination_uri !== undefined && body.termination_uri !== before.termination_uri)
      refuseHost(body.termination_uri, platform)
    const settings = changed(before, body, platform)
    if (isUnchanged(before, settings)) return { status: 200, body: toTrunk(before, platform) }
    const after = await writeTrunk(db, scope, trunk_id, settings)
    context.notifyAfterCommit('telephony', trunk_id)
    return { status: 200, body: toTrunk(after, platform) }
  },

  'trunks.delete': async ({ params: { trunk_id } }, context) => {
    const { db, scope, platform } = context
    context.auditResource({ kind: 'trunk', id: trunk_id })
    const trunk = await lockedTrunk(db, scope, trunk_id)
    if (trunk === null) {
      const tombstone = await tombstoneOf(db, scope, 'trunk', trunk_id)
      if (tombstone === null) throw noTrunk(trunk_id)
      return { status: 200, body: tombstone as Trunk }
    }
    const numbers = await numbersOn(db, scope, trunk_id, MAX_LISTED_NUMBERS)
    if (numbers.length > 0)
      throw new Refusal('conflict', `trunk "${trunk_id}" has numbers, see details.numbers: release them first`, {
        reason: 'trunk_in_use',
        details: { numbers },
      })
    const body = toTrunk(trunk, platform)
    await deleteTrunk(db, scope, trunk_id)
    await insertTombstone(db, scope, 'trunk', trunk_id, body)
    context.notifyAfterCommit('telephony', trunk_id)
    return { status: 200, body }
  },
} satisfies Partial<Handlers>

/** Refuses a host at which calls would reach the platform's own network. */
function refuseHost(host: string, platform: Platform): void {
  if (platform.allowsSipHost(host)) return
  throw invalid(
    '/termination_uri',
    `${host} is not a public address: name the carrier's server; platform staff can allow a private one`,
    'address_not_allowed',
  )
}

/** Refuses a reference that is not a version of a SIP password; locks the secret until the transaction has stored the reference. */
async function lockSipSecret({ db, scope }: Context, pin: SecretPin): Promise<void> {
  const found = await lockPinnedSecret(db, scope, pin)
  if (found === null) throw noSecret('/auth_secret/id', `there is no secret "${pin.id}"`)
  if (found.kind !== 'sip_auth')
    throw noSecret('/auth_secret/id', `"${pin.id}" is a secret of kind ${found.kind}, not sip_auth`)
  if (!found.has_version) throw noSecret('/auth_secret/version', `secret "${pin.id}" has no version "${pin.version}"`)
}

function noSecret(path: string, message: string): Refusal {
  return invalid(path, message, 'secret_not_found')
}

type Changes = InputOf<OperationNamed<'trunks.update'>>['body']

/** Merges the changes into the settings. A trunk whose `inbound` is switched on again gets a new inbound address. */
function changed(before: TrunkRow, { auth_secret, ...changes }: Changes, platform: Platform): TrunkSettings {
  const { trunk_id: _, provider: __, created_at: ___, updated_at: ____, ...current } = before
  const inbound = changes.inbound ?? current.inbound
  return {
    name: changes.name ?? current.name,
    termination_uri: changes.termination_uri ?? current.termination_uri,
    auth_username: changes.auth_username === undefined ? current.auth_username : changes.auth_username,
    auth_secret_id: auth_secret === undefined ? current.auth_secret_id : (auth_secret?.id ?? null),
    auth_secret_version: auth_secret === undefined ? current.auth_secret_version : (auth_secret?.version ?? null),
    inbound,
    inbound_token: inbound ? (current.inbound_token ?? newToken(platform)) : null,
  }
}

function isUnchanged(before: TrunkRow, after: TrunkSettings): boolean {
  return (Object.keys(after) as (keyof TrunkSettings)[]).every(name => before[name] === after[name])
}

function newToken(platform: Platform): string {
  return platform.randomBytes(TOKEN_BYTES).toString('hex')
}

function toTrunk(row: TrunkRow, { sip }: Platform): Trunk {
  const { auth_secret_id: id, auth_secret_version: version, inbound_token: token, ...trunk } = row
  return {
    ...trunk,
    auth_secret: id === null || version === null ? null : { id, version },
    inbound_sip_uri: token === null ? null : `sip:${token}@${sip.domain}:${sip.tlsPort};transport=tls`,
  }
}

function creationRefused(reason: 'trunk_exists' | 'limit_reached', trunkId: string): Refusal {
  const message =
    reason === 'trunk_exists'
      ? `a trunk with the id "${trunkId}" exists: choose another id`
      : `the environment has ${ENVIRONMENT_LIMITS.trunks} trunks: delete one first`
  return new Refusal('conflict', message, { reason })
}

/** The refusal for a trunk that this environment does not have. */
export function noTrunk(trunkId: string): Refusal {
  return new Refusal('not_found', `there is no trunk "${trunkId}"`)
}
