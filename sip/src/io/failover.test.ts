import { SeededRandom, systemTime } from '@parley/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ScriptedDns, service } from '../transport/dns.fixture.ts'
import { Caller, Carrier } from './carrier.fixture.ts'
import { TransportFixture } from './socket-transport.fixture.ts'
import { SystemResolver } from './system-resolver.ts'

let bench: TransportFixture
beforeEach(() => {
  bench = new TransportFixture()
})
afterEach(() => bench.close())

/** A trunk "localhost.test" whose SRV records name these ports of this machine, in order. */
function trunkAt(ports: readonly number[]): SystemResolver {
  const dns = new ScriptedDns({
    srv: { '_sips._tcp.trunk.test': ports.map((port, i) => service(i, 0, port, 'host.test')) },
    addresses: { 'host.test': ['127.0.0.1'] },
  })
  return new SystemResolver({ time: systemTime, random: new SeededRandom(1), dns })
}

async function deadPort(): Promise<number> {
  const gone = await bench.endpoint()
  const { port } = gone.target('tcp')
  await gone.transport.close()
  return port
}

describe('a trunk with several servers', () => {
  it('a trunk is reached although its first servers are down, silent or busy, and later calls try those last', async () => {
    let connections = 0
    const mute = await bench.rawServer(() => connections++)
    const tls = await bench.certificate()
    const busy = new Carrier(await bench.endpoint(), () => ({ status: 503, headers: [['Retry-After', '60']] }))
    const good = new Carrier(await bench.endpoint(), () => ({ status: 200, hop: 'sip:127.0.0.1;transport=tls' }))
    const ports = [await deadPort(), mute.port, busy.endpoint.target('tls').port, good.endpoint.target('tls').port]
    const resolver = trunkAt(ports)
    // The certificates here are for localhost: the trunk's name, whatever the servers are called.
    const named = {
      resolve: (hop: Parameters<typeof resolver.resolve>[0]) => resolver.resolve({ ...hop, serverName: 'localhost' }),
    }
    const caller = await Caller.open(bench, { tls, resolver: named, limits: { handshakeMs: 2000 } })
    await caller.call('sip:1@trunk.test;transport=tls').answered
    expect([connections, busy.methods, good.methods.slice(0, 1)]).toEqual([1, ['INVITE', 'ACK'], ['INVITE']])
    await caller.call('sip:2@trunk.test;transport=tls').answered
    await good.until('INVITE', 2)
    expect([connections, busy.methods]).toEqual([1, ['INVITE', 'ACK']])
  })

  it('a call fails after every server was tried once', async () => {
    const resolver = trunkAt([await deadPort(), await deadPort()])
    const caller = await Caller.open(bench, { tls: await bench.certificate(), resolver })
    const end = await caller.call('sip:1@trunk.test;transport=tls').ended
    expect(end).toMatchObject({ cause: 'transport', status: 503 })
    expect(end.detail).toContain('refused')
  })

  it('a 503 of the last server reaches the caller with its Retry-After', async () => {
    const busy = new Carrier(await bench.endpoint(), () => ({ status: 503, headers: [['Retry-After', '7']] }))
    const resolver = trunkAt([await deadPort(), busy.endpoint.target('tcp').port])
    const tcp = {
      resolve: async (hop: Parameters<typeof resolver.resolve>[0]) =>
        (await resolver.resolve(hop)).map(target => ({ ...target, transport: 'tcp' as const })),
    }
    const caller = await Caller.open(bench, { tls: await bench.certificate(), resolver: tcp })
    expect(await caller.call('sip:1@trunk.test;transport=tls').ended).toMatchObject({ status: 503, retryAfterS: 7 })
  })
})
