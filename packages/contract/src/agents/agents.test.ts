import {
  boolean,
  identifier,
  integer,
  oneOf,
  optional,
  pattern,
  revision,
  text,
  uuid,
  version,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import { parseInput } from '../derived/parse-input.ts'
import { isAccepted, operationOf, requestCases, requestMismatches } from '../testing/requests.ts'

const newId = optional(pattern(['a', '0', 'a_.:-9', 'a'.repeat(256)], ['', 'A', 'aB', '_a', 'a/b', 'a'.repeat(257)]))
const draftId = uuid.valid[0]

const cases = [
  requestCases(
    'agents.list',
    'query',
    {},
    {
      cursor: optional(text(0, 4096)),
      limit: optional(integer(1, 200)),
      q: optional(text(0, 256)),
      channel: optional(oneOf('cloud', 'phone')),
      sort: optional(oneOf('updated_desc', 'name_asc')),
    },
  ),
  requestCases('agents.get', 'params', { agent_id: 'a' }, { agent_id: identifier(256) }),
  requestCases(
    'agents.create',
    'body',
    { template: 'blank', name: 'Ada' },
    {
      template: oneOf('phone_outbound', 'cloud_task', 'cloud_chat', 'blank'),
      name: text(1, 256),
      agent_id: newId,
      language: optional(oneOf('en', 'es')),
    },
  ),
  requestCases(
    'agents.clone',
    'body',
    {},
    {
      name: optional(text(1, 256)),
      agent_id: newId,
      version: optional(version),
    },
  ),
  requestCases('agents.export', 'query', {}, { version: optional(version), draft: optional(boolean) }),
  requestCases(
    'drafts.discard',
    'query',
    { draft_id: draftId, expected_revision: 1 },
    {
      draft_id: uuid,
      expected_revision: revision,
    },
  ),
  requestCases('drafts.open', 'body', {}, { version: optional(version) }),
  requestCases(
    'drafts.validate',
    'body',
    { draft_id: draftId, expected_revision: 1 },
    {
      draft_id: uuid,
      expected_revision: revision,
    },
  ),
  requestCases(
    'publications.list',
    'query',
    {},
    {
      cursor: optional(text(0, 1024)),
      limit: optional(integer(1, 200)),
    },
  ),
  requestCases(
    'publications.publish',
    'body',
    { draft_id: draftId, expected_revision: 1 },
    {
      draft_id: uuid,
      expected_revision: revision,
      test: optional(boolean),
    },
  ),
  requestCases('publications.get', 'params', { agent_id: 'a', version: 0 }, { agent_id: identifier(256), version }),
  requestCases(
    'publications.set_head',
    'body',
    { version: 1, expected_version: 0 },
    {
      version,
      expected_version: { ...version, valid: [...version.valid, null] },
    },
  ),
]

describe('a request about agents', () => {
  it.each(cases)('in $id, each field of $part accepts the values within its bounds and no others', cases =>
    expect(requestMismatches(cases)).toEqual([]),
  )

  it('fields left out of a request get their defaults', () => {
    const list = parseInput(operationOf('agents.list'), {})
    expect(list).toMatchObject({ ok: true, input: { params: null, query: { limit: 50, sort: 'updated_desc' } } })
    const create = parseInput(operationOf('agents.create'), {
      body: { template: 'blank', name: 'Ada' },
      idempotencyKey: '12345678',
    })
    expect(create).toMatchObject({ ok: true, input: { body: { language: 'en' } }, idempotencyKey: '12345678' })
  })

  it('an export is of a version or of the draft, not of both', () => {
    expect(isAccepted('agents.export', { query: { draft: true, version: 3 } })).toBe(false)
    expect(isAccepted('agents.export', { query: { draft: false, version: 3 } })).toBe(true)
  })

  it.each(['agents.clone', 'drafts.open', 'drafts.validate'])('a request of %s may leave out the body', id =>
    expect(isAccepted(id, {})).toBe(true),
  )

  it.each(['agents.create', 'publications.publish', 'publications.set_head'])(
    'a request of %s without a body is refused',
    id => expect(isAccepted(id, {})).toBe(false),
  )
})

describe('an idempotency key', () => {
  const printable = ['x'.repeat(8), 'x'.repeat(255), '!~!~!~!~']
  const notPrintable = ['x'.repeat(7), 'x'.repeat(256), 'has space', 'tab\tinside', 'ümlaut-key', undefined, null]

  it.each(['agents.create', 'agents.clone'])('the idempotency key of %s is 8 to 255 printable ASCII characters', id => {
    const body = { template: 'blank', name: 'Ada' }
    const given = id === 'agents.create' ? { body } : {}
    for (const idempotencyKey of printable) expect(isAccepted(id, { ...given, idempotencyKey })).toBe(true)
    for (const idempotencyKey of notPrintable) expect(isAccepted(id, { ...given, idempotencyKey })).toBe(false)
  })

  it.each(['keys.rotate', 'drafts.open'])('the idempotency key of %s is any 1 to 256 characters', id => {
    for (const idempotencyKey of ['x', 'has space', 'x'.repeat(256), 'ü'.repeat(256)])
      expect(isAccepted(id, { idempotencyKey })).toBe(true)
    for (const idempotencyKey of ['', 'x'.repeat(257), 'x\0', undefined, 7])
      expect(isAccepted(id, { idempotencyKey })).toBe(false)
  })

  it('an idempotency key is ignored where none is required', () =>
    expect(isAccepted('agents.list', { idempotencyKey: 7 })).toBe(true))
})
