import { VirtualTime } from '@parley/kernel'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { options, TcpPeer, TransportFixture, turn } from './socket-transport.fixture.ts'

let bench: TransportFixture
beforeEach(() => {
  bench = new TransportFixture()
})
afterEach(() => bench.close())

/** Passes 100 ms of the server's clock, of which `peer` uses every tenth to send a byte, and waits for the end of its connection. */
async function expectClosedAfter100ms(time: VirtualTime, peer: TcpPeer, send = (_step: number) => {}): Promise<void> {
  for (let step = 0; step < 10; step++) {
    time.advance(step === 0 ? 9 : 10)
    send(step)
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  expect(peer.socket.closed).toBe(false)
  time.advance(1)
  await peer.closed
}

describe('slow senders', () => {
  it('a peer that sends no valid message in time is disconnected, even if it keeps sending bytes', async () => {
    const time = new VirtualTime()
    const server = await bench.endpoint({ limits: { firstMessageMs: 100 }, time })
    const peer = await bench.rawClient(server.target('tcp').port)
    await server.untilStats({ established: 1 })
    const request = options('one')
    await expectClosedAfter100ms(time, peer, step => peer.socket.write(request.subarray(step, step + 1)))
    await server.untilStats({ accepted: 0, established: 0 })
    expect(server.told).toMatchObject([{ type: 'flow-closed', code: 'slow_sender' }])
  })

  it('a peer that stops in the middle of a later message is disconnected', async () => {
    const time = new VirtualTime()
    const server = await bench.endpoint({ limits: { partialMessageMs: 100 }, time })
    const peer = await bench.rawClient(server.target('tcp').port)
    // The beginning of the second message comes in the packet that ends the first.
    peer.socket.write(Buffer.concat([options('one'), options('two').subarray(0, 40)]))
    await server.until('message')
    await expectClosedAfter100ms(time, peer)
    expect(server.all('flow-closed')).toMatchObject([{ code: 'slow_sender' }])
  })

  it('a TLS handshake that exceeds its time limit is closed, even if bytes keep arriving', async () => {
    const time = new VirtualTime()
    const server = await bench.endpoint({ limits: { handshakeMs: 100 }, time })
    const peer = await bench.rawClient(server.target('tls').port)
    await server.untilStats({ handshakes: 1 })
    // The header of a client hello of 512 bytes, which then come one by one.
    peer.socket.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))
    await expectClosedAfter100ms(time, peer, () => peer.socket.write(Buffer.of(0)))
    expect(server.told).toEqual([])
    await server.untilStats({ accepted: 0, handshakes: 0 })
  })
})

/** An address that takes places; the peers that must not be kept out come from 127.0.0.1. */
const OTHER = '127.0.0.2'

describe('many connections', () => {
  it('connections beyond the limits are closed before a byte is read, and accepted ones are not affected', async () => {
    const server = await bench.endpoint({ limits: { maxPerPeer: 3 } })
    const client = await bench.endpoint()
    client.send(server.target('tls'), options('one'))
    const [first] = await server.until('message')
    const crowd = await Promise.all(Array.from({ length: 8 }, () => bench.rawClient(server.target('tcp').port)))
    await Promise.all(crowd.slice(2).map(peer => peer.closed))
    await server.untilStats({ accepted: 3, refused: 6 })
    server.send(first!.flow, options('two'))
    await client.until('message')
    crowd[0]!.socket.destroy()
    await server.untilStats({ accepted: 2 })
    const late = await bench.rawClient(server.target('tcp').port)
    late.socket.write(options('three'))
    await server.until('message', 2)
  })

  it('unfinished handshakes time out and free their places', async () => {
    const time = new VirtualTime()
    const server = await bench.endpoint({ limits: { maxHandshakesPerPeer: 2, handshakeMs: 1000 }, time })
    const stalled = await Promise.all(Array.from({ length: 4 }, () => bench.rawClient(server.target('tls').port)))
    await server.untilStats({ handshakes: 2, refused: 2 })
    time.advance(1000)
    await Promise.all(stalled.map(peer => peer.closed))
    await server.untilStats({ accepted: 0, handshakes: 0, refused: 2 })
    const client = await bench.endpoint()
    client.send(server.target('tls'), options('one'))
    await server.until('message')
  })

  it('the oldest unfinished handshake makes room for a connection from another address when every place is taken', async () => {
    const server = await bench.endpoint({ limits: { maxHandshakes: 4, knownShare: 0.5 } })
    const oldest = await bench.rawClient(server.target('tls').port, OTHER)
    await server.untilStats({ handshakes: 1 })
    await bench.rawClient(server.target('tls').port, OTHER)
    await server.untilStats({ handshakes: 2 })
    const client = await bench.endpoint()
    client.send(server.target('tls'), options('one'))
    await server.until('message')
    await oldest.closed
    await server.untilStats({ accepted: 2, handshakes: 1, refused: 0, evicted: 1 })
    expect(server.all('flow-closed')).toEqual([])
  })

  it('a connection without an answer makes room for another address when every place is taken, and answered ones stay', async () => {
    const server = await bench.endpoint({ limits: { maxAccepted: 2, knownShare: 0 } })
    const client = await bench.endpoint()
    client.send(server.target('tls'), options('one'))
    const [first] = await server.until('message')
    server.send(first!.flow, options('answer'))
    await client.until('message')
    const silent = await bench.rawClient(server.target('tcp').port, OTHER)
    await server.untilStats({ established: 2 })
    const late = await bench.rawClient(server.target('tcp').port)
    await silent.closed
    late.socket.write(options('two'))
    await server.until('message', 2)
    expect(server.all('flow-closed').map(({ flow }) => flow.transport)).toEqual(['tcp'])
    await server.untilStats({ accepted: 2, evicted: 1 })
  })

  it('known addresses keep a reserve of handshakes', async () => {
    const known = new Set<string>()
    const server = await bench.endpoint({
      limits: { maxHandshakes: 2, knownShare: 0.5 },
      isKnownAddress: address => known.has(address),
    })
    await bench.rawClient(server.target('tls').port)
    await server.untilStats({ handshakes: 1 })
    known.add('127.0.0.1')
    const client = await bench.endpoint()
    client.send(server.target('tls'), options('one'))
    await server.until('message')
    await server.untilStats({ handshakes: 1, refused: 0, evicted: 0 })
  })

  it('the number of sends that wait for one dial is limited', async () => {
    const client = await bench.endpoint({ limits: { maxQueuedSends: 2, handshakeMs: 60 } })
    const silent = await bench.rawServer(() => {})
    for (let i = 0; i < 4; i++) client.send({ ...silent, transport: 'tls' }, options('x'))
    const failures = await client.until('send-failed', 4)
    expect(failures.map(({ sendId, code }) => `${sendId} ${code}`)).toEqual([
      '3 queue_full',
      '4 queue_full',
      '1 timeout',
      '2 timeout',
    ])
  })
})

describe('datagrams beyond the budget of their source', () => {
  it('datagrams beyond the budget are dropped unread and counted', async () => {
    const server = await bench.endpoint({ datagramLimits: { perSource: 30 } })
    const client = await bench.endpoint()
    for (let i = 0; i < 10; i++) client.send(server.target('udp'), options(`datagram${i}`))
    await server.untilStats({ datagramsDropped: 7 })
    expect(server.callIds()).toEqual(['datagram0', 'datagram1', 'datagram2'])
  })
})

describe('peers that do not read', () => {
  it('a peer that does not read is cut off, reported once, and every later send to it fails', async () => {
    const server = await bench.endpoint({ limits: { maxUnreadBytes: 50_000 } })
    const peer = await bench.rawClient(server.target('tcp').port)
    peer.socket.write(options('one'))
    const [arrived] = await server.until('message')
    peer.socket.pause()
    let sends = 0
    while (server.all('flow-closed').length === 0 && sends < 5_000) {
      server.send(arrived!.flow, Buffer.alloc(10_000, 'x'))
      if (++sends % 20 === 0) await turn()
    }
    server.send(arrived!.flow, options('late'))
    await server.untilTrue(() => server.all('sent').length + server.all('send-failed').length === sends + 1)
    expect(server.all('flow-closed').map(input => input.code)).toEqual(['write_overflow'])
    expect(server.all('send-failed')[0]!.code).toBe('write_overflow')
    expect(server.all('send-failed').at(-1)!.code).toBe('closed')
    const afterwards = server.told.slice(server.told.findIndex(input => input.type === 'flow-closed') + 1)
    expect(afterwards.every(input => input.type === 'send-failed')).toBe(true)
  })
})

describe('bytes that are not SIP', () => {
  it('a protocol violation on a stream is reported before the connection closes, and a response can still be sent', async () => {
    const time = new VirtualTime()
    const server = await bench.endpoint({ limits: { violationFlushMs: 30 }, time })
    const peer = await bench.rawClient(server.target('tcp').port)
    const fatal = Buffer.concat([options('one'), options('two').subarray(0, 30), Buffer.alloc(100_000, 'garbage ')])
    server.transport.onInput(input => {
      if (input.type === 'message' && !input.result.ok && input.result.fatal)
        server.send(input.flow, Buffer.from('SIP/2.0 400 Bad Request\r\n\r\n'))
    })
    peer.socket.write(fatal)
    await server.until('sent')
    time.advance(30)
    await peer.closed
    expect(server.told.map(input => input.type)).toEqual(['message', 'message', 'sent', 'flow-closed'])
    expect(server.all('message')[1]!.result).toMatchObject({ ok: false, fatal: true })
    expect(server.all('flow-closed')[0]!.code).toBe('protocol_error')
    expect(peer.received).toBe('SIP/2.0 400 Bad Request\r\n\r\n')
  })

  it('a connection on which a dialled server violates the protocol is not reused', async () => {
    const client = await bench.endpoint()
    const babbler = await bench.rawServer(socket => socket.once('data', () => socket.write('garbage\r\n\r\n')))
    client.send(babbler, options('one'))
    await client.until('message')
    client.send(babbler, options('two'))
    const [first, second] = await client.until('sent', 2)
    expect(second!.flow.id).not.toBe(first!.flow.id)
  })

  it('bytes that are not TLS end the handshake on the TLS port without an event', async () => {
    const server = await bench.endpoint()
    const peer = await bench.rawClient(server.target('tls').port)
    peer.socket.write(options('one'))
    await peer.closed
    await server.untilStats({ accepted: 0 })
    expect(server.told).toEqual([])
  })

  it('arbitrary bytes in arbitrary chunks produce messages and at most one end of the flow', async () => {
    const server = await bench.endpoint({ limits: { violationFlushMs: 1, lingerMs: 5 } })
    const { port } = server.target('tcp')
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)),
      fc.constantFrom(options('whole'), options('half').subarray(0, 90), Buffer.from('\r\n\r\n'), Buffer.from('\r\n')),
    )
    const attack = async (pieces: Buffer[]) => {
      const before = server.all('flow-closed').length
      const peer: TcpPeer = await bench.rawClient(port)
      for (const bytes of pieces) peer.socket.write(bytes)
      peer.socket.end()
      await peer.closed
      await server.untilTrue(() => server.all('flow-closed').length === before + 1)
    }
    await fc.assert(fc.asyncProperty(fc.array(piece, { maxLength: 8 }), attack), { numRuns: 60 })
    const deaths = server.all('flow-closed').map(input => input.flow.id)
    expect(new Set(deaths).size).toBe(deaths.length)
    for (const [i, input] of server.told.entries()) {
      if (input.type !== 'message') continue
      const death = server.told.findIndex(other => other.type === 'flow-closed' && other.flow.id === input.flow.id)
      expect(death).toBeGreaterThan(i)
    }
    await server.untilStats({ accepted: 0, established: 0 })
  })
})

describe('half-open connections', () => {
  it('a connection whose peer ended its side is closed', async () => {
    const server = await bench.endpoint()
    const peer = await bench.rawClient(server.target('tcp').port)
    peer.socket.write(options('one'))
    await server.until('message')
    peer.socket.end()
    await peer.closed
    expect(server.all('flow-closed')).toMatchObject([{ code: 'closed' }])
  })

  it('a connection whose peer ignores our FIN is cut', async () => {
    let far: TcpPeer | undefined
    const server = await bench.rawServer(socket => {
      far = new TcpPeer(socket)
    }, true)
    const client = await bench.endpoint({ limits: { lingerMs: 40 } })
    client.send(server, options('one'))
    const [sent] = await client.until('sent')
    await far!.until(received => received.includes('one'))
    client.transport.submit({ type: 'close-flow', flow: sent!.flow })
    await client.until('flow-closed')
    // The far side keeps its half open and goes on: only our cut can end it.
    const chatter = setInterval(() => far!.socket.write('x'), 10)
    bench.defer(() => clearInterval(chatter))
    await far!.closed
  })
})
