import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemTime } from '@parley/kernel'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Caller, Carrier } from './carrier.fixture.ts'
import { ensureLocalCertificate, type LocalCertificate } from './local-authority.ts'
import { type Endpoint, TransportFixture } from './socket-transport.fixture.ts'
import { SystemResolver } from './system-resolver.ts'

/** Both certificates come from one authority and differ only in their names. */
let home: string
let trunk: LocalCertificate
let stranger: LocalCertificate
let bench: TransportFixture

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-redial-'))
  trunk = await ensureLocalCertificate(home, { names: ['trunk.example'], addresses: [] })
  // Its certificate even covers the address at which it listens.
  stranger = await ensureLocalCertificate(home, { names: ['stranger.example'], addresses: ['127.0.0.1'] })
})
afterAll(() => rm(home, { recursive: true }))
beforeEach(() => {
  bench = new TransportFixture()
})
afterEach(() => bench.close())

/** Calls the trunk by its name; the answer routes everything else to `hop`, written as an address. */
async function callOver(hopOf: (carrier: Endpoint) => string) {
  const endpoint = await bench.endpoint({ tls: trunk })
  const hop = hopOf(endpoint)
  const carrier = new Carrier(endpoint, () => ({ status: 200, hop }))
  const overrides = new Map([['trunk.example', [{ host: '127.0.0.1', port: endpoint.target('tls').port }]]])
  const caller = await Caller.open(bench, {
    tls: stranger,
    resolver: new SystemResolver({ time: systemTime, overrides }),
  })
  const call = caller.call('sip:1@trunk.example;transport=tls')
  await call.answered
  return { carrier, caller, call }
}

const addressOf = (endpoint: Endpoint) => `sip:127.0.0.1:${endpoint.target('tls').port};transport=tls`

describe('a call whose connection was cut', () => {
  it("a call continues over a new connection to the address in Record-Route if that server proves the trunk's name", async () => {
    const { carrier, caller, call } = await callOver(addressOf)
    const { flow } = await carrier.until('INVITE')
    carrier.cut(flow)
    while (caller.transport.stats().established > 0) await new Promise(setImmediate)
    call.session.hangUp()
    const bye = await carrier.until('BYE')
    expect(bye.flow.id).not.toBe(flow.id)
    expect(bye.request.route[0]?.uri).toMatchObject({ host: '127.0.0.1' })
    expect(await call.ended).toMatchObject({ cause: 'bye', confirmed: true })
  })

  it('no request is sent to a server at that address that proves another name, even the address itself', async () => {
    const other = new Carrier(await bench.endpoint({ tls: stranger }), () => ({ status: 200 }))
    const { carrier, caller, call } = await callOver(() => addressOf(other.endpoint))
    const { flow } = await carrier.until('INVITE')
    carrier.cut(flow)
    while (caller.transport.stats().established > 0) await new Promise(setImmediate)
    call.session.hangUp()
    expect(await call.ended).toMatchObject({ confirmed: false })
    expect([other.methods, other.endpoint.all('message')]).toEqual([[], []])
  })
})

describe('root certificates by server name', () => {
  it('the roots configured for a name are the only ones for it and are not used for other names', async () => {
    const elsewhere = await new TransportFixture('another authority').certificate()
    const server = new Carrier(await bench.endpoint({ tls: trunk }), () => ({ status: 486 }))
    const overrides = new Map(
      ['trunk.example', 'stranger.example'].map(name => [
        name,
        [{ host: '127.0.0.1', port: server.endpoint.target('tls').port }],
      ]),
    )
    const resolver = new SystemResolver({ time: systemTime, overrides })
    const statusWith = async (ca: string, caByName: ReadonlyMap<string, string>) => {
      const caller = await Caller.open(bench, { tls: { ...elsewhere, ca, caByName }, resolver })
      return (await caller.call('sip:1@Trunk.example;transport=tls').ended).status
    }
    expect(await statusWith(elsewhere.ca, new Map([['trunk.example', trunk.ca]]))).toBe(486)
    expect(await statusWith(trunk.ca, new Map([['trunk.example', elsewhere.ca]]))).toBe(503)
    expect(await statusWith(elsewhere.ca, new Map([['stranger.example', trunk.ca]]))).toBe(503)
    expect(server.methods).toEqual(['INVITE', 'ACK'])
  })
})
