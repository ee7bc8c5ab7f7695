import { createHash } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MasterKeySealer } from '../io/sealer.ts'
import { insertNumber, writeAssignment } from '../numbers.ts'
import type { Queries } from '../protocol.ts'
import { workspace } from '../runs/runs.fixture.ts'
import { deleteSecret, putSecret } from '../secrets.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { deleteTrunk, insertTrunk, type NewTrunk } from '../trunks.ts'
import { dialableTrunk } from './dialable-trunk.ts'
import { numberReached } from './number-reached.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  scope = await workspace(test)
})

const within = <Result>(work: (tx: Queries) => Promise<Result>, of: Scope = scope) =>
  test.database.transaction(of, work)

const TRUNK: NewTrunk = {
  trunk_id: 'carrier',
  name: 'The carrier',
  provider: 'generic_sip',
  termination_uri: 'sip.carrier.example',
  auth_username: null,
  auth_secret_id: null,
  auth_secret_version: null,
  inbound: true,
  inbound_token: null,
}
let tokens = 0
/** As the API makes one: with inbound on it has a token. */
async function trunk(of: Scope, changes: Partial<NewTrunk> = {}): Promise<NewTrunk> {
  const made = { ...TRUNK, inbound_token: `token-${tokens++}`, ...changes }
  if ((await within(tx => insertTrunk(tx, of, made), of)) === 'trunk_exists') throw new Error('exists')
  return made
}

async function number(of: Scope, phone_number: string, agent: string | null = null, version: number | null = null) {
  return within(async tx => {
    const made = await insertNumber(tx, of, { phone_number, trunk_id: 'carrier', name: null })
    if (typeof made === 'string') throw new Error(made)
    if (agent !== null) await writeAssignment(tx, of, made.number_id, { agent_id: agent, version })
    return made.number_id
  }, of)
}

async function publish(of: Scope, version: number): Promise<void> {
  await test.owner.query(
    `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
       source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
     values ($1, 'greeter', $2, 'd', 3, '{phone}', '{en}', 'api', '{}', false, uuidv7(), 1, $3, '{}', '[]')`,
    [of.tenant_id, version, JSON.stringify({ version })],
  )
  await test.owner.query("update parley.agents set head_version = $2 where tenant_id = $1 and agent_id = 'greeter'", [
    of.tenant_id,
    version,
  ])
}

describe('trunks that take calls', () => {
  const inbound = async (...of: Scope[]) =>
    (await test.database.telephony.inboundTrunks()).filter(one =>
      of.some(({ tenant_id }) => tenant_id === one.scope.tenant_id),
    )

  it('inbound trunks of every tenant are listed, without their tokens', async () => {
    const other = await workspace(test)
    const { inbound_token } = await trunk(scope)
    await trunk(scope, { trunk_id: 'outbound', inbound: false, inbound_token: null })
    await trunk(other)
    const [ours, theirs, ...more] = await inbound(scope, other)
    expect(more).toEqual([])
    expect(ours).toEqual({
      scope,
      trunk_id: 'carrier',
      name: 'The carrier',
      token_sha256: createHash('sha256').update(inbound_token!).digest('hex'),
      termination_uri: 'sip.carrier.example',
      details: {},
      first_number: null,
    })
    expect(theirs).toMatchObject({ scope: other, trunk_id: 'carrier' })
    expect(JSON.stringify([ours, theirs])).not.toContain('token-')
  })

  it('an inbound trunk is listed with its staff settings and its first number', async () => {
    await trunk(scope)
    await number(scope, '+4930222')
    await number(scope, '+4930111')
    const details = { source: ['192.0.2.0/28'], country: 'DE', cps: 5, media: 'rtp' }
    await test.owner.query('update parley.trunks set details = $2 where tenant_id = $1', [scope.tenant_id, details])
    expect(await inbound(scope)).toMatchObject([{ details, first_number: '+4930222' }])
  })

  it('a trunk without a token is found by the called number, only if the number is on it', async () => {
    const other = await workspace(test)
    await trunk(scope)
    await trunk(other)
    await number(scope, '+4930111')
    await number(other, '+4930222')
    const candidates = (phone_number: string) => [
      { scope, trunk_id: 'carrier', phone_number },
      { scope: other, trunk_id: 'carrier', phone_number },
      { scope, trunk_id: 'none', phone_number },
    ]
    const reached = async (phone_number: string, onlyConfirmed = false) =>
      (await test.database.telephony.reached(candidates(phone_number), onlyConfirmed)).map(one => one.scope.tenant_id)
    expect(await reached('+4930111')).toEqual([scope.tenant_id])
    expect(await reached('+4930222')).toEqual([other.tenant_id])
    expect(await reached('+4930333')).toEqual([])
    await number(other, '+4930111')
    expect(await reached('+4930111')).toHaveLength(2)
    expect(await reached('+4930111', true)).toEqual([])
    await test.owner.query(
      'update parley.numbers set confirmed_at = now() where tenant_id = $1 and phone_number = $2',
      [other.tenant_id, '+4930111'],
    )
    expect(await reached('+4930111', true)).toEqual([other.tenant_id])
    expect(await test.database.telephony.reached([], true)).toEqual([])
  })
})

describe('the revision of telephony', () => {
  const revision = () => test.database.telephony.revision()

  it('the telephony revision changes with each change of a trunk or number of any tenant', async () => {
    const seen = [await revision()]
    const after = async (change: () => Promise<unknown>) => {
      await change()
      seen.push(await revision())
    }
    const other = await workspace(test)
    await after(() => trunk(scope))
    await after(() => trunk(other))
    let id = ''
    await after(async () => {
      id = await number(scope, '+4930111')
    })
    await after(() => within(tx => writeAssignment(tx, scope, id, { agent_id: 'greeter', version: null })))
    await after(() => test.owner.query("update parley.trunks set name = 'x' where tenant_id = $1", [other.tenant_id]))
    await after(() => test.owner.query('delete from parley.numbers where tenant_id = $1', [scope.tenant_id]))
    await after(() => within(tx => deleteTrunk(tx, scope, 'carrier')))
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.map(BigInt).toSorted((a, b) => Number(a - b))).toEqual(seen.map(BigInt))
  })

  it('the telephony revision rises when a change commits, and not before', async () => {
    await trunk(scope)
    const before = await revision()
    expect(await revision()).toBe(before)
    await within(async tx => {
      await deleteTrunk(tx, scope, 'carrier')
      expect(await revision()).toBe(before)
    })
    expect(await revision()).not.toBe(before)
  })

  it('a change that is rolled back does not raise the telephony revision', async () => {
    await trunk(scope)
    const before = await revision()
    const failing = within(async tx => {
      await deleteTrunk(tx, scope, 'carrier')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await revision()).toBe(before)
  })

  it('the telephony revision counts every one of many concurrent changes', async () => {
    await trunk(scope)
    const before = BigInt(await revision())
    await Promise.all(Array.from({ length: 12 }, (_, index) => number(scope, `+49301${index}`)))
    expect(BigInt(await revision()) - before).toBe(12n)
  })
})

describe('a number that is called', () => {
  beforeEach(() => trunk(scope))
  const reached = (called = '+4930111', trunkId = 'carrier') => within(tx => numberReached(tx, scope, trunkId, called))

  it('a called number is answered by the head version of its agent, or by the version that the number pins', async () => {
    await publish(scope, 2)
    const number_id = await number(scope, '+4930111', 'greeter')
    const answered = { kind: 'answered', number_id, phone_number: '+4930111', agent_id: 'greeter', channels: ['phone'] }
    expect(await reached()).toEqual({ ...answered, version: 2, plan: { version: 2 } })
    await publish(scope, 3)
    expect(await reached()).toEqual({ ...answered, version: 3, plan: { version: 3 } })
    await within(tx => writeAssignment(tx, scope, number_id, { agent_id: 'greeter', version: 2 }))
    expect(await reached()).toEqual({ ...answered, version: 2, plan: { version: 2 } })
  })

  it('a called number without an agent gives the reason', async () => {
    const number_id = await number(scope, '+4930111')
    const unanswered = (reason: string, id: string | null = number_id) => ({
      kind: 'unanswered',
      reason,
      number_id: id,
    })
    expect(await reached('+4930999')).toEqual(unanswered('no_number', null))
    expect(await reached('+4930111', 'other')).toEqual(unanswered('no_number', null))
    expect(await reached()).toEqual(unanswered('unassigned'))
    await within(tx => writeAssignment(tx, scope, number_id, { agent_id: 'greeter', version: null }))
    expect(await reached()).toEqual(unanswered('not_published'))
    await publish(scope, 2)
    expect(await reached()).toMatchObject({ kind: 'answered' })
    await test.owner.query('update parley.agents set archived_at = now() where tenant_id = $1', [scope.tenant_id])
    expect(await reached()).toEqual(unanswered('agent_archived'))
  })

  it('a called number is never matched with a number of another tenant', async () => {
    const other = await workspace(test)
    await trunk(other)
    await number(other, '+4930111', 'greeter')
    expect(await reached()).toMatchObject({ reason: 'no_number' })
  })
})

describe('a trunk that is dialled', () => {
  const sealer = new MasterKeySealer(new Map([[1, Buffer.alloc(32, 7)]]))
  const dialable = () => dialableTrunk(test.database.within(scope), scope, 'carrier')

  it('a dialled trunk comes with its sealed password in the pinned version', async () => {
    for (const value of ['first', 'second'])
      await within(tx => putSecret(tx, scope, sealer, { secret_id: 'trunk', kind: 'sip_auth', value }))
    await trunk(scope, { auth_username: 'us', auth_secret_id: 'trunk', auth_secret_version: '1' })
    await number(scope, '+4930111')
    const found = await dialable()
    expect(found).toMatchObject({
      trunk_id: 'carrier',
      name: 'The carrier',
      termination_uri: 'sip.carrier.example',
      details: {},
      first_number: '+4930111',
      auth: { username: 'us' },
    })
    const { sealed, context } = found!.auth!.secret!
    expect(sealed.toString()).not.toContain('first')
    expect(sealer.open(sealed, context).toString()).toBe('first')
  })

  it('a dialled trunk whose secret is deleted comes without its password, one without a secret needs none, and an unknown trunk is not found', async () => {
    expect(await dialable()).toBeNull()
    await within(tx => putSecret(tx, scope, sealer, { secret_id: 'trunk', kind: 'sip_auth', value: 'v' }))
    await trunk(scope, { auth_username: 'us', auth_secret_id: 'trunk', auth_secret_version: '1' })
    await within(tx => deleteSecret(tx, scope, 'trunk', true))
    expect((await dialable())?.auth).toEqual({ username: 'us', secret: null })
    await test.owner.query(
      'update parley.trunks set auth_username = null, auth_secret_id = null, auth_secret_version = null where tenant_id = $1',
      [scope.tenant_id],
    )
    expect((await dialable())?.auth).toBeNull()
  })
})
