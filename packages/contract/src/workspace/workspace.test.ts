import {
  boolean,
  identifier,
  instant,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  text,
  uuid,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import { isAccepted, requestCases, requestMismatches } from '../testing/requests.ts'

const days = integer(1, 3650)
const retention = { recording_days: 90, transcript_days: 365, document_days: null, expected_version: 0 }

const cases = [
  requestCases('environments.ensure_sandbox', 'body', {}, {}),
  requestCases(
    'keys.create',
    'body',
    { name: 'ci', role: 'member' },
    {
      name: text(1, 128),
      role: oneOf('admin', 'member', 'viewer'),
      can_dial: optional(boolean),
      expires_at: optional(instant),
    },
  ),
  requestCases('keys.revoke', 'params', { key_id: uuid.valid[0] }, { key_id: uuid }),
  requestCases('keys.rotate', 'body', {}, { overlap_seconds: optional(integer(0, 604_800)) }),
  requestCases('keys.list', 'query', {}, { cursor: optional(text(0, 1024)), limit: optional(integer(1, 200)) }),
  requestCases('secrets.list', 'query', {}, { cursor: optional(text(0, 1024)), limit: optional(integer(1, 200)) }),
  requestCases('secrets.delete', 'params', { secret_id: 'a' }, { secret_id: identifier(128) }),
  requestCases(
    'secrets.put',
    'body',
    { kind: 'sip_auth', value: 'pw' },
    {
      kind: oneOf('sip_auth', 'http_auth', 'webhook_signing', 'provider_credential'),
      value: text(1, 16_384),
    },
  ),
  requestCases('secrets.delete', 'query', {}, { force: optional(boolean) }),
  requestCases(
    'tenant_settings.update',
    'body',
    {},
    {
      display_name: optional(nullable(text(1, 128))),
      retention: optional(
        object(retention, {
          recording_days: days,
          transcript_days: days,
          document_days: nullable(days),
          expected_version: integer(0, Number.MAX_SAFE_INTEGER),
        }),
      ),
    },
  ),
  requestCases(
    'audit.list',
    'query',
    {},
    {
      cursor: optional(text(0, 1024)),
      limit: optional(integer(1, 200)),
      after: optional(instant),
      before: optional(instant),
    },
  ),
]

describe('a workspace request', () => {
  it.each(cases)('in $id, each field of $part accepts the values within its bounds and no others', cases =>
    expect(requestMismatches(cases)).toEqual([]),
  )
})

describe('an API key', () => {
  it('an API key of role viewer cannot have can_dial', () => {
    expect(isAccepted('keys.create', { body: { name: 'k', role: 'viewer', can_dial: true } })).toBe(false)
    expect(isAccepted('keys.create', { body: { name: 'k', role: 'viewer', can_dial: false } })).toBe(true)
    expect(isAccepted('keys.create', { body: { name: 'k', role: 'member', can_dial: true } })).toBe(true)
  })
})

describe('an empty body', () => {
  it.each(['environments.ensure_sandbox', 'keys.rotate', 'tenant_settings.update'])(
    'a request of %s may leave out the body',
    id => {
      expect(isAccepted(id, {})).toBe(true)
      expect(isAccepted(id, { body: {} })).toBe(true)
      expect(isAccepted(id, { body: null })).toBe(false)
      expect(isAccepted(id, { body: [] })).toBe(false)
    },
  )
})
