import { VirtualTime } from '@parley/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { options, TcpPeer, TransportFixture } from './socket-transport.fixture.ts'

/** The transport does not read what it sends. */
const ANSWER = Buffer.from('answer')

let bench: TransportFixture
beforeEach(() => {
  bench = new TransportFixture()
})
afterEach(() => bench.close())

describe('double-CRLF keep-alives on the wire (RFC 5626 section 3.5.1)', () => {
  it('a ping is answered with one CRLF, also between messages, but not on a connection where nothing was answered', async () => {
    const server = await bench.endpoint()
    const peer = await bench.rawClient(server.target('tcp').port)
    peer.socket.write(Buffer.concat([Buffer.from('\r\n\r\n'), options('one')]))
    const [first] = await server.until('message')
    expect(peer.received).toBe('')
    server.send(first!.flow, ANSWER)
    await peer.until(received => received === 'answer')
    peer.socket.write(Buffer.concat([options('two'), Buffer.from('\r\n\r\n'), options('three')]))
    await peer.until(received => received === 'answer\r\n')
    await server.until('message', 3)
    expect(server.callIds()).toEqual(['one', 'two', 'three'])
  })

  it('pings are sent on dialled connections, and on accepted ones after the first response', async () => {
    const limits = { pingMinMs: 20, pingMaxMs: 25 }
    const server = await bench.endpoint({ limits })
    const peer = await bench.rawClient(server.target('tcp').port)
    let dialled: TcpPeer | undefined
    const far = await bench.rawServer(socket => {
      dialled = new TcpPeer(socket)
    })
    const client = await bench.endpoint({ limits })
    client.send(far, options('one'))
    await client.until('sent')
    await dialled!.until(received => received.endsWith('\r\n\r\n\r\n\r\n\r\n\r\n'))
    expect(dialled!.received.split('OPTIONS sip:')).toHaveLength(2)
    expect(peer.received).toBe('')
    peer.socket.write(options('two'))
    const [asked] = await server.until('message')
    server.send(asked!.flow, ANSWER)
    await peer.until(received => received.startsWith('answer\r\n\r\n\r\n\r\n'))
  })

  it('pings come as often as the user agent asks for on a connection', async () => {
    let dialled: TcpPeer | undefined
    const far = await bench.rawServer(socket => {
      dialled = new TcpPeer(socket)
    })
    const client = await bench.endpoint()
    client.send(far, options('one'))
    const [sent] = await client.until('sent')
    client.transport.submit({ type: 'keep-within', flow: sent!.flow, withinMs: 25 })
    await dialled!.until(received => received.endsWith('\r\n\r\n\r\n\r\n\r\n\r\n'))
  })

  it('a peer that stops answering pings is disconnected, one that never answered is not', async () => {
    const limits = { pingMinMs: 20, pingMaxMs: 25, pongMs: 30 }
    const client = await bench.endpoint({ limits })
    let answering: TcpPeer | undefined
    const answers = await bench.rawServer(socket => {
      answering = new TcpPeer(socket)
      socket.once('data', () => socket.write('\r\n'))
    })
    let silent: TcpPeer | undefined
    const ignores = await bench.rawServer(socket => {
      silent = new TcpPeer(socket)
    })
    client.send(answers, options('one'))
    client.send(ignores, options('two'))
    await client.until('flow-closed')
    await silent!.until(received => received.split('\r\n\r\n').length > 8)
    await answering!.closed
    expect(client.all('flow-closed')).toMatchObject([
      { code: 'keepalive_timeout', flow: { remote: { port: answers.port } } },
    ])
  })

  it('keep-alives prevent the idle timeout of an accepted connection only after the first response', async () => {
    const time = new VirtualTime()
    const limits = { idleMs: 1000, firstMessageMs: 10_000 }
    const server = await bench.endpoint({ limits, time })
    const known = await bench.rawClient(server.target('tcp').port)
    const stranger = await bench.rawClient(server.target('tcp').port)
    const strangerPort = stranger.socket.localPort
    known.socket.write(options('one'))
    const [asked] = await server.until('message')
    server.send(asked!.flow, ANSWER)
    const beat = async () => {
      const answered = known.received.length
      for (const peer of [known, stranger]) if (!peer.socket.destroyed) peer.socket.write('\r\n\r\n')
      await known.until(received => received.length > answered)
    }
    for (let passed = 0; passed < 3000; passed += 100) {
      await beat()
      time.advance(100)
    }
    await stranger.closed
    await beat()
    expect(server.all('flow-closed')).toMatchObject([{ code: 'idle', flow: { remote: { port: strangerPort } } }])
  })
})
