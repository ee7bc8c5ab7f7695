import { createSocket } from 'node:dgram'
import { Socket } from 'node:net'
import { systemTime, type Time } from '@parley/kernel'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { options, TransportFixture } from './socket-transport.fixture.ts'

let bench: TransportFixture
beforeEach(() => {
  bench = new TransportFixture()
})
afterEach(() => bench.close())

/** The sockets of this process. */
function sockets(): string[] {
  return process.getActiveResourcesInfo().filter(name => /TCP|UDP|TLS/.test(name))
}

/** Waits until there are no more sockets of any kind than `before`: those of other tests of this process may close meanwhile. */
async function untilNoMoreThan(before: readonly string[]): Promise<void> {
  const count = (all: readonly string[], kind: string) => all.filter(name => name === kind).length
  const more = () => sockets().filter((kind, _, now) => count(now, kind) > count(before, kind))
  await expect.poll(more, { interval: 5 }).toEqual([])
}

it.each(['tcp', 'tls'] as const)(
  'packets of both ends of a %s connection are marked as signalling (DSCP CS5)',
  async transport => {
    const marked: number[] = []
    const original = Socket.prototype.setTypeOfService
    vi.spyOn(Socket.prototype, 'setTypeOfService').mockImplementation(function (this: Socket, tos: number) {
      original.call(this, tos)
      marked.push(this.getTypeOfService())
      return this
    })
    bench.defer(() => vi.restoreAllMocks())
    const server = await bench.endpoint()
    const client = await bench.endpoint()
    client.send(server.target(transport), options('one'))
    await server.until('message')
    expect(marked).toEqual([160, 160])
  },
)

describe.each(['udp', 'tcp', 'tls'] as const)('messages over %s', transport => {
  it('a request arrives and is answered on its flow', async () => {
    const [client, server] = await Promise.all([bench.endpoint(), bench.endpoint()])
    const sendId = client.send(server.target(transport), options('one'))
    expect(client.told).toEqual([])
    const [arrived] = await server.until('message')
    expect(server.callIds()).toEqual(['one'])
    expect(arrived!.flow).toMatchObject({ transport, origin: 'accepted' })
    server.send(arrived!.flow, options('two'))
    const [answer] = await client.until('message')
    const [sent] = client.all('sent')
    expect(sent!.sendId).toBe(sendId)
    expect(client.told.map(input => input.type)).toEqual(['sent', 'message'])
    expect(answer!.flow.id).toBe(sent!.flow.id)
    expect(sent!.flow.serverName).toBe(transport === 'tls' ? 'localhost' : undefined)
    expect(sent!.flow.origin).toBe('dialled')
  })

  it('messages keep their order, however they are cut into packets', async () => {
    const [client, server] = await Promise.all([bench.endpoint(), bench.endpoint()])
    const ids = Array.from({ length: 50 }, (_, i) => `message-${i}`)
    for (const id of ids) client.send(server.target(transport), options(id, 'x'.repeat(1000)))
    await server.until('message', 50)
    expect(server.callIds()).toEqual(ids)
    await client.until('sent', 50)
    expect(client.all('sent').map(input => input.sendId)).toEqual(ids.map((_, i) => i + 1))
    expect(new Set(client.all('sent').map(input => input.flow.id)).size).toBe(1)
  })
})

describe('connections', () => {
  it('a closed connection is dialled again, and its end is reported once', async () => {
    const [client, server] = await Promise.all([bench.endpoint(), bench.endpoint()])
    client.send(server.target('tls'), options('one'))
    const [first] = await server.until('message')
    server.transport.submit({ type: 'close-flow', flow: first!.flow })
    const [death] = await client.until('flow-closed')
    expect(death!.flow.id).toBe(client.all('sent')[0]!.flow.id)
    client.send(death!.flow, options('lost'))
    const [failure] = await client.until('send-failed')
    expect(failure).toMatchObject({ sendId: 2, code: 'closed' })
    client.send(server.target('tls'), options('two'))
    await server.until('message', 2)
    expect(client.all('sent')[1]!.flow.id).not.toBe(death!.flow.id)
    expect(client.all('flow-closed')).toHaveLength(1)
    expect(server.all('flow-closed').map(input => input.code)).toEqual(['requested'])
  })

  it('a failed dial fails every send that waits for it', async () => {
    const client = await bench.endpoint()
    const free = await bench.rawServer(() => {})
    await bench.close()
    bench = new TransportFixture()
    const lonely = await bench.endpoint()
    lonely.send(free, options('one'))
    lonely.send(free, options('two'))
    const failures = await lonely.until('send-failed', 2)
    expect(failures.map(({ sendId, code }) => [sendId, code])).toEqual([
      [1, 'refused'],
      [2, 'refused'],
    ])
    expect(lonely.transport.stats().dialled).toBe(0)
    expect(client.told).toEqual([])
  })

  it('a send to an invalid address, an oversized datagram and a datagram without a socket fail', async () => {
    const client = await bench.endpoint({ udpPort: null })
    const datagrams = await bench.endpoint()
    client.send({ address: 'localhost', port: 5060, transport: 'tcp', serverName: 'localhost' }, options('a'))
    client.send({ address: '127.0.0.1', port: 0, transport: 'tcp', serverName: 'localhost' }, options('b'))
    client.send({ address: '127.0.0.1', port: 5060, transport: 'udp', serverName: 'localhost' }, options('c'))
    const failures = await client.until('send-failed', 3)
    expect(failures.map(failure => failure.code)).toEqual(['unreachable', 'unreachable', 'not_listening'])
    datagrams.send(datagrams.target('udp'), Buffer.alloc(65_001))
    datagrams.send({ ...datagrams.target('udp'), address: '::1' }, options('d'))
    const more = await datagrams.until('send-failed', 2)
    expect(more.map(failure => failure.code)).toEqual(['too_large', 'unreachable'])
  })
})

describe('datagrams', () => {
  it('a datagram of line breaks is a keep-alive, STUN is reported as such, garbage is reported as refused, and the socket keeps working', async () => {
    const server = await bench.endpoint()
    const socket = createSocket('udp4')
    bench.defer(() => socket.close())
    const { port } = server.target('udp')
    const stun = Buffer.from('0101000c2112a442000102030405060708090a0b002000080001a1473213c683', 'hex')
    for (const bytes of ['\r\n\r\n', '\r\n', '', stun, '\u0000\u0001garbage'])
      socket.send(Buffer.from(bytes), port, '127.0.0.1')
    socket.send(options('one'), port, '127.0.0.1')
    const [garbage, good] = await server.until('message', 2)
    expect(garbage!.result.ok).toBe(false)
    expect(good!.result.ok).toBe(true)
    const [answer] = await server.until('stun')
    expect(Buffer.from(answer!.bytes)).toEqual(stun)
    expect(answer!.flow.remote).toEqual({ address: '127.0.0.1', port: socket.address().port })
    expect(server.told).toHaveLength(3)
  })

  it('a dual-stack socket reaches IPv4 peers and reports their IPv4 address', async () => {
    const server = await bench.endpoint({ bind: '::' })
    const client = await bench.endpoint()
    client.send({ ...server.target('udp'), address: '127.0.0.1' }, options('one'))
    const [arrived] = await server.until('message')
    expect(arrived!.flow.remote.address).toBe('127.0.0.1')
    server.send(arrived!.flow, options('two'))
    await client.until('message')
    expect(client.callIds()).toEqual(['two'])
  })
})

describe('opening and closing a transport', () => {
  it('the sent-by address is known for every transport that listens', async () => {
    const named = await bench.endpoint({ advertisedHost: 'engine-1.example', tcpPort: null })
    expect(named.transport.advertised('tls')).toEqual({ host: 'engine-1.example', port: named.target('tls').port })
    expect(named.transport.advertised('tcp')).toBeUndefined()
    const ipv6 = await bench.endpoint({ bind: '::1' })
    expect(ipv6.transport.advertised('udp')).toEqual({ host: '[::1]', port: ipv6.target('udp').port })
  })

  it('a resolve command is answered with its targets', async () => {
    const client = await bench.endpoint()
    const hop = { host: '127.0.0.1', port: undefined, transport: 'tls', serverName: undefined } as const
    client.transport.submit({ type: 'resolve', resolveId: 5, hop })
    expect(await client.until('resolved')).toEqual([
      {
        type: 'resolved',
        resolveId: 5,
        targets: [{ address: '127.0.0.1', port: 5061, transport: 'tls', serverName: '127.0.0.1' }],
      },
    ])
  })

  it('opening fails on a port that is in use and leaves no socket open', async () => {
    const first = await bench.endpoint()
    const { port } = first.target('tls')
    const before = sockets()
    await expect(bench.endpoint({ tlsPort: port })).rejects.toMatchObject({ code: 'listen_failed' })
    await expect(bench.endpoint({ udpPort: first.target('udp').port })).rejects.toMatchObject({ code: 'listen_failed' })
    await untilNoMoreThan(before)
  })

  it('closing ends all flows, fails pending sends and leaves no socket and no timer', async () => {
    const before = sockets()
    const armed = new Set<object>()
    const time: Time = {
      now: () => systemTime.now(),
      at(deadline, callback) {
        const timer = systemTime.at(deadline, () => {
          armed.delete(timer)
          callback()
        })
        armed.add(timer)
        const cancel = () => {
          armed.delete(timer)
          timer.cancel()
        }
        return { cancel }
      },
    }
    const [client, server] = await Promise.all([bench.endpoint({ time }), bench.endpoint({ time })])
    const silent = await bench.rawServer(() => {})
    client.send(server.target('tls'), options('one'))
    client.send(server.target('tcp'), options('two'))
    client.send(server.target('udp'), options('three'))
    await server.until('message', 3)
    const half = await bench.rawClient(server.target('tls').port)
    client.send({ ...silent, transport: 'tls' }, options('four'))
    await Promise.all([client.transport.close(), server.transport.close()])
    expect(client.all('flow-closed').map(input => input.code)).toEqual(['shutdown', 'shutdown'])
    expect(client.all('send-failed')).toEqual([expect.objectContaining({ sendId: 4, code: 'shutdown' })])
    expect(server.all('flow-closed')).toHaveLength(2)
    const told = client.told.length
    client.send(server.target('udp'), options('five'))
    await client.transport.close()
    expect(client.told).toHaveLength(told)
    await half.closed
    expect(armed.size).toBe(0)
    await bench.close()
    await untilNoMoreThan(before)
  })
})
