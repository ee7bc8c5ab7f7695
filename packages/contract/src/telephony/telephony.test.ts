import {
  boolean,
  e164,
  identifier,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  pattern,
  text,
  trunkId,
  uuid,
  version,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import { isAccepted, requestCases, requestMismatches } from '../testing/requests.ts'

const host = pattern(
  ['a', 'a.b-c.example.com', '9', 'a'.repeat(253)],
  ['', 'A.example.com', 'a.', '-a', 'a_b', 'a:5061', 'sip:a', 'a'.repeat(254), 'a\n'],
)
const secret = { id: 'sip-password', version: '1' }
const secretRef = object(secret, { id: text(1, 128), version: text(1, 128) })
const page = { cursor: optional(text(0, 1024)), limit: optional(integer(1, 200)) }
const trunk = {
  trunk_id: 'trunk-1',
  name: 'Carrier',
  provider: 'generic_sip',
  termination_uri: 'sip.example.com',
  auth_username: 'user',
  auth_secret: secret,
}

const cases = [
  requestCases('trunks.list', 'query', {}, page),
  requestCases('trunks.create', 'body', trunk, {
    trunk_id: trunkId,
    name: text(1, 256),
    provider: oneOf('carrier_elastic_sip', 'generic_sip'),
    termination_uri: host,
    auth_username: text(1, 256),
    auth_secret: secretRef,
    inbound: optional(boolean),
  }),
  requestCases('trunks.get', 'params', { trunk_id: 'a' }, { trunk_id: trunkId }),
  requestCases(
    'trunks.update',
    'body',
    {},
    {
      name: optional(text(1, 256)),
      termination_uri: optional(host),
      inbound: optional(boolean),
    },
  ),
  requestCases(
    'trunks.update',
    'body',
    { auth_username: 'user', auth_secret: secret },
    {
      auth_username: text(1, 256),
      auth_secret: secretRef,
    },
  ),
  requestCases(
    'numbers.list',
    'query',
    {},
    {
      ...page,
      trunk_id: optional(trunkId),
      agent_id: optional(identifier(256)),
    },
  ),
  requestCases(
    'numbers.import',
    'body',
    { phone_number: '+15551234567', trunk_id: 'trunk-1' },
    {
      phone_number: e164,
      trunk_id: trunkId,
      name: optional(text(1, 256)),
    },
  ),
  requestCases('numbers.release', 'params', { number_id: uuid.valid[0] }, { number_id: uuid }),
  requestCases(
    'numbers.assign',
    'body',
    { agent_id: 'a' },
    {
      agent_id: nullable(identifier(256)),
      version: optional(nullable(version)),
    },
  ),
  requestCases('call_limits.update', 'body', { daily_limit: 0 }, { daily_limit: nullable(integer(0, 1_000_000)) }),
]

describe('a telephony request', () => {
  it.each(cases)('in $id, each field of $part accepts the values within its bounds and no others', cases =>
    expect(requestMismatches(cases)).toEqual([]),
  )
})

describe('the credentials of a trunk', () => {
  it('a trunk update sets or clears the user name and the secret together', () => {
    const update = (body: object) => isAccepted('trunks.update', { body })
    expect(update({ auth_username: null, auth_secret: null })).toBe(true)
    expect(update({ auth_username: 'user', auth_secret: null })).toBe(false)
    expect(update({ auth_username: null, auth_secret: secret })).toBe(false)
    expect(update({ auth_username: null })).toBe(false)
    expect(update({ auth_secret: secret })).toBe(false)
  })

  it('a trunk update cannot change the id or the provider', () => {
    expect(isAccepted('trunks.update', { body: { trunk_id: 'other' } })).toBe(false)
    expect(isAccepted('trunks.update', { body: { provider: 'generic_sip' } })).toBe(false)
  })
})
