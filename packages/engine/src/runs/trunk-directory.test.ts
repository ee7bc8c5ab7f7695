import { createHash } from 'node:crypto'
import { VirtualTime } from '@parley/kernel'
import { parseUri, type SipRequest } from '@parley/sip'
import type { InboundTrunk, TelephonyAcrossTenants } from '@parley/store'
import { localBus } from '@parley/store/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TrunkDirectory } from './trunk-directory.ts'

let time: VirtualTime
let trunks: InboundTrunk[]
let revision: number
let reads: number
let directory: TrunkDirectory
let bus: ReturnType<typeof localBus>

const trunk = (id: string, token: string, details: InboundTrunk['details'] = {}): InboundTrunk => ({
  scope: { owner_id: 'o', environment: 'production', tenant_id: 't' },
  trunk_id: id,
  name: id,
  token_sha256: createHash('sha256').update(token).digest('hex'),
  termination_uri: `${id}.example`,
  details,
  first_number: null,
})

const telephony: { -readonly [Name in keyof TelephonyAcrossTenants]: TelephonyAcrossTenants[Name] } = {
  revision: async () => String(revision),
  inboundTrunks: async () => {
    reads++
    return trunks
  },
  pingedTrunks: async () => [],
  diallingTrunks: async () => [],
  reached: async () => [],
}

const requestTo = (uri: string) => ({ uri: parseUri(uri) }) as SipRequest
const trunkFor = (uri: string, from = '198.51.100.1') => directory.byToken(requestTo(uri), from)?.trunk_id ?? null
const promisesSettled = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

beforeEach(async () => {
  time = new VirtualTime()
  bus = localBus()
  revision = 1
  reads = 0
  trunks = [trunk('open', 'tokenone'), trunk('restricted', 'tokentwo', { source: ['192.0.2.0/24'] })]
  directory = await TrunkDirectory.open({
    telephony,
    bus,
    time,
    addressesOf: async host => (host === 'open.example' ? ['203.0.113.7'] : []),
    onProblem: () => {},
  })
  await promisesSettled()
})
afterEach(() => directory.close())

it('a trunk is found by its token as the user, a parameter, or the first label of the host', () => {
  expect(trunkFor('sip:tokenone@engine.example')).toBe('open')
  expect(trunkFor('sip:+15550001111@engine.example;token=tokenone')).toBe('open')
  expect(trunkFor('sip:+15550001111@tokenone.engine.example')).toBe('open')
  expect(trunkFor('sip:tokenon@engine.example')).toBeNull()
  expect(trunkFor('sip:+15550001111@engine.example')).toBeNull()
})

it('a trunk with configured sources is found by its token only in requests from one of them', () => {
  expect(trunkFor('sip:tokentwo@engine.example', '192.0.2.9')).toBe('restricted')
  expect(trunkFor('sip:tokentwo@engine.example', '198.51.100.1')).toBeNull()
})

it('a trunk lists its configured sources, else the addresses of its host name', () => {
  expect(directory.bySource('192.0.2.9').map(({ trunk_id }) => trunk_id)).toEqual(['restricted'])
  expect(directory.bySource('203.0.113.7').map(({ trunk_id }) => trunk_id)).toEqual(['open'])
  expect(directory.bySource('203.0.113.8')).toEqual([])
})

it('a trunk is listed once for an address in two of its networks', async () => {
  trunks = [
    trunk('wide', 'tokenone', { source: ['192.0.2.0/24', '192.0.2.9', '10.0.0.0/8'] }),
    trunk('other', 'tokentwo'),
  ]
  revision = 2
  bus.publish('telephony', 'any')
  await promisesSettled()
  expect(directory.bySource('192.0.2.9').map(({ trunk_id }) => trunk_id)).toEqual(['wide'])
  expect(directory.bySource('198.51.100.1')).toEqual([])
})

it('a change of the trunks is known at once from the bus, and within a second without it', async () => {
  trunks = [trunk('new', 'tokenthree')]
  revision = 2
  bus.publish('telephony', 'any')
  await promisesSettled()
  expect(trunkFor('sip:tokenthree@engine.example')).toBe('new')
  expect(trunkFor('sip:tokenone@engine.example')).toBeNull()
  trunks = [trunk('newer', 'tokenfour')]
  revision = 3
  time.advance(1000)
  await promisesSettled()
  expect(trunkFor('sip:tokenfour@engine.example')).toBe('newer')
})

it('the trunks are read only when their revision changed', async () => {
  for (let second = 0; second < 10; second++) {
    time.advance(1000)
    await promisesSettled()
  }
  expect(reads).toBe(1)
})

it('known trunks are still found while the database does not answer', async () => {
  const { revision: readRevision } = telephony
  telephony.revision = async () => {
    throw new Error('the database does not answer')
  }
  time.advance(1000)
  await promisesSettled()
  expect(trunkFor('sip:tokenone@engine.example')).toBe('open')
  telephony.revision = readRevision
  revision = 2
  trunks = []
  time.advance(1000)
  await promisesSettled()
  expect(trunkFor('sip:tokenone@engine.example')).toBeNull()
})

it('a request over the connection of a trunk’s registration needs no configured source', () => {
  const [, restricted] = directory.trunks
  const request = requestTo('sip:tokentwo@engine.example')
  expect(directory.byToken(request, '198.51.100.1')).toBeNull()
  expect(directory.byToken(request, '198.51.100.1', [restricted!])?.trunk_id).toBe('restricted')
})
