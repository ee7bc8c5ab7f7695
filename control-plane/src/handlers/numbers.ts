import { type phoneNumber, Refusal } from '@parley/contract'
import {
  deleteNumber,
  ENVIRONMENT_LIMITS,
  insertNumber,
  insertTombstone,
  listNumbers,
  lockAgentAgainstArchiving,
  type NumberRow,
  numberOf,
  publishedVersion,
  tombstoneOf,
  trunkOf,
  writeAssignment,
} from '@parley/store'
import type { z } from 'zod'
import type { Context, Handlers } from '../context.ts'
import { agentArchived, agentNotPublished, noAgent, noVersion } from './agents-refusals.ts'
import { noTrunk } from './trunks.ts'

type PhoneNumber = z.input<typeof phoneNumber>

export const numberHandlers = {
  'numbers.list': async ({ query: { cursor, ...filter } }, { db, scope }) => {
    const { rows, next_cursor } = await listNumbers(db, scope, { ...filter, cursor: cursor ?? null })
    return { status: 200, body: { items: rows.map(toNumber), next_cursor } }
  },

  'numbers.import': async ({ body: { phone_number, trunk_id, name } }, context) => {
    const made = await insertNumber(context.db, context.scope, { phone_number, trunk_id, name: name ?? null })
    if (made === 'no_trunk') throw noTrunk(trunk_id)
    if (typeof made === 'string') throw creationRefused(made, phone_number)
    context.auditResource({ kind: 'phone_number', id: made.number_id })
    context.notifyAfterCommit('telephony', made.number_id)
    return { status: 201, body: toNumber(made) }
  },

  'numbers.assign': async ({ params: { number_id }, body: { agent_id, version } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'phone_number', id: number_id })
    const number = await numberOf(db, scope, number_id)
    if (number === null) throw noNumber(number_id)
    if (agent_id !== null) await checkAssignable(context, number, agent_id, version)
    const assigned = await writeAssignment(db, scope, number_id, agent_id === null ? null : { agent_id, version })
    // The number was released after it was read.
    if (assigned === null) throw noNumber(number_id)
    context.notifyAfterCommit('telephony', number_id)
    return { status: 200, body: toNumber(assigned) }
  },

  'numbers.release': async ({ params: { number_id } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'phone_number', id: number_id })
    const released = await deleteNumber(db, scope, number_id)
    if (released === null) {
      const tombstone = await tombstoneOf(db, scope, 'number', number_id)
      if (tombstone === null) throw noNumber(number_id)
      // One that was released before numbers had the member `inbound` has none.
      return { status: 200, body: { inbound: 'unconfirmed', ...tombstone } as PhoneNumber }
    }
    const body = toNumber(released)
    await insertTombstone(db, scope, 'number', number_id, body)
    context.notifyAfterCommit('telephony', number_id)
    return { status: 200, body }
  },
} satisfies Partial<Handlers>

/** Refuses an assignment that no call could reach; checks the agent, its version, its channel and the trunk, in this order. */
async function checkAssignable(
  { db, scope }: Context,
  number: NumberRow,
  agentId: string,
  version: number | null,
): Promise<void> {
  const agent = await lockAgentAgainstArchiving(db, scope, agentId)
  if (agent === null) throw noAgent(agentId)
  if (agent.archived_at !== null) throw agentArchived(agentId)
  let channels = agent.head_channels
  if (version === null) {
    if (agent.head_version === null) throw agentNotPublished(agentId)
  } else {
    const published = await publishedVersion(db, scope, agentId, version)
    if (published === null) throw noVersion(agentId, version)
    if (published.test)
      throw new Refusal(
        'conflict',
        `version ${version} of agent "${agentId}" was published for tests only: publish the draft without "test"`,
        {
          reason: 'test_publication',
        },
      )
    channels = published.channels
  }
  if (!channels.includes('phone'))
    throw new Refusal(
      'capability_unavailable',
      `agent "${agentId}" is not published for the phone: add the channel and publish`,
      {
        reason: 'channel_not_supported',
      },
    )
  const trunk = await trunkOf(db, scope, number.trunk_id)
  if (trunk?.inbound !== true)
    throw new Refusal(
      'conflict',
      `trunk "${number.trunk_id}" does not accept inbound calls: set "inbound" of the trunk first`,
      {
        reason: 'trunk_not_inbound',
      },
    )
}

function toNumber({ agent_id, version, ...number }: NumberRow): PhoneNumber {
  return { ...number, assignment: agent_id === null ? null : { agent_id, version } }
}

function creationRefused(reason: 'number_exists' | 'limit_reached', phoneNumber: string): Refusal {
  const message =
    reason === 'number_exists'
      ? `${phoneNumber} is already imported in this environment`
      : `the environment has ${ENVIRONMENT_LIMITS.numbers} numbers: release one first`
  return new Refusal('conflict', message, { reason })
}

function noNumber(numberId: string): Refusal {
  return new Refusal('not_found', `there is no number ${numberId}`)
}
