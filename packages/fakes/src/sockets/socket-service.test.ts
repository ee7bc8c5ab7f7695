import { once } from 'node:events'
import { connect } from 'node:net'
import { VirtualTime } from '@parley/kernel'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { ServiceFault } from '../protocol.ts'
import type { ConnectionHandler, FakeConnection, FaultBehaviour } from './fake-connection.ts'
import { SocketService, type SocketServiceOptions } from './socket-service.ts'

const IDLE_MS = 1000
const FAULT_BEHAVIOUR: FaultBehaviour = {
  garbage: ['?', Buffer.from([1])],
  garbageAtOnce: false,
  countsFromAudio: false,
  ignoresInputWhenSilent: false,
}

/** Says every text again, and everything binary as audio. */
class Echo extends SocketService {
  readonly heard: string[]

  private constructor(options: SocketServiceOptions, heard: string[]) {
    super(options, { connections: 0, open: 0, refused: 0 })
    this.heard = heard
  }

  static open(options: Partial<SocketServiceOptions> = {}): Promise<Echo> {
    const heard: string[] = []
    const handle = (line: FakeConnection): ConnectionHandler => {
      line.resetIdleTimer(IDLE_MS)
      return {
        onText: text => {
          heard.push(text)
          line.resetIdleTimer(IDLE_MS)
          line.send(text)
        },
        onBinary: bytes => line.sendAudio(bytes),
        onClose: () => heard.push('closed'),
        onIdle: () => line.close(1000, 'idle'),
        fail: () => line.close(1011, 'failed'),
      }
    }
    const refusal = (status: number) => ({ status, body: { status }, headers: { 'X-Vendor': 'echo' } })
    const admit = (url: URL) => (url.pathname === '/echo' ? null : refusal(404))
    return new Echo({ admit, refusal, handle, faultBehaviour: FAULT_BEHAVIOUR, ...options }, heard).listen()
  }
}

async function openEcho(options: Partial<SocketServiceOptions> = {}): Promise<Echo> {
  const echo = await Echo.open(options)
  onTestFinished(() => echo.close())
  return echo
}

/** A client; resolves when its connection is open or was refused. */
async function call(echo: Echo, path = '/echo') {
  const socket = new WebSocket(echo.url + path)
  onTestFinished(() => socket.terminate())
  const received: string[] = []
  socket.on('message', (data, isBinary) => received.push(isBinary ? 'bytes' : String(data)))
  const closed = new Promise<number>(resolve => socket.on('close', resolve))
  const refused = new Promise<{ status?: number; retryAfter?: string; vendor?: unknown }>(resolve => {
    socket.on('unexpected-response', (_request, { statusCode: status, headers }) => {
      resolve({ status, retryAfter: headers['retry-after'], vendor: headers['x-vendor'] } as object)
    })
  })
  const refusal = await Promise.race([once(socket, 'open').then(() => null), refused])
  return { socket, received, closed, refusal }
}

it('scripted faults apply to connections in order, and later connections succeed', async () => {
  const echo = await openEcho({ faults: [{ type: 'refuse', status: 429, retryAfterS: 3 }, null] })
  echo.injectFaults({ type: 'refuse', status: 503 })
  expect((await call(echo)).refusal).toEqual({ status: 429, retryAfter: '3', vendor: 'echo' })
  expect((await call(echo)).refusal).toBe(null)
  expect((await call(echo)).refusal).toMatchObject({ status: 503 })
  expect((await call(echo, '/other')).refusal).toMatchObject({ status: 404 })
  const { socket, received } = await call(echo)
  socket.send('one')
  await expect.poll(() => received).toEqual(['one'])
  expect(echo.counts).toEqual({ connections: 2, open: 2, refused: 3 })
  echo.breakOff()
  await expect.poll(() => echo.counts.open).toBe(0)
})

it('a connection opens only after the configured connect delay', async () => {
  const time = new VirtualTime()
  const echo = await openEcho({ time, delays: { connectMs: 300 } })
  const calling = call(echo)
  await expect.poll(() => time.nextDeadline()).toBe(300)
  time.advance(299)
  expect(echo.counts.connections).toBe(0)
  time.advance(1)
  expect((await calling).refusal).toBe(null)
})

it('the service closes while one connection waits to open and a refused one stays open', async () => {
  const time = new VirtualTime()
  const echo = await Echo.open({ time, delays: { connectMs: 300 } })
  const waiting = new WebSocket(`${echo.url}/echo`)
  const given = once(waiting, 'error')
  await expect.poll(() => time.nextDeadline()).toBe(300)
  await echo.close()
  await given
  await expect.poll(() => time.nextDeadline()).toBe(undefined)
  expect(echo.counts).toEqual({ connections: 0, open: 0, refused: 0 })

  const other = await Echo.open()
  // A handshake with an invalid path from a client that does not close the connection.
  const socket = connect({ port: Number(new URL(other.url).port), host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.write('GET // HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 404 .*\{"status":404\}$/s)
  await other.close()
})

it.each<[ServiceFault['type'], number]>([
  ['break-off', 1006],
  ['error', 1011],
])('the fault "%s" happens its delay after the first message of the client', async (type, code) => {
  const time = new VirtualTime()
  const echo = await openEcho({ time, faults: [{ type, afterMs: 500 } as ServiceFault] })
  const { socket, received, closed } = await call(echo)
  time.advance(600)
  socket.send('one')
  await expect.poll(() => received).toEqual(['one'])
  time.advance(499)
  socket.send('two')
  await expect.poll(() => received).toEqual(['one', 'two'])
  time.advance(1)
  expect(await closed).toBe(code)
  await expect.poll(() => echo.heard).toEqual(['one', 'two', 'closed'])
})

it('where faults count from audio, a fault happens its delay after the first audio, however long ago the first message was', async () => {
  const time = new VirtualTime()
  const faultBehaviour = { ...FAULT_BEHAVIOUR, countsFromAudio: true }
  const echo = await openEcho({ time, faultBehaviour, faults: [{ type: 'break-off', afterMs: 500 }] })
  const { socket, received, closed } = await call(echo)
  socket.send('one')
  await expect.poll(() => received).toEqual(['one'])
  time.advance(450)
  socket.send(Buffer.from([1]))
  await expect.poll(() => received).toEqual(['one', 'bytes'])
  time.advance(499)
  socket.send('two')
  await expect.poll(() => received).toEqual(['one', 'bytes', 'two'])
  time.advance(1)
  expect(await closed).toBe(1006)
})

it('a "break-off" after 0 ms happens before any reply, however late timers fire', async () => {
  // The clock does not advance, so no timer fires.
  const echo = await openEcho({ time: new VirtualTime(), faults: [{ type: 'break-off', afterMs: 0 }] })
  const { socket, received, closed } = await call(echo)
  socket.send('one')
  expect(await closed).toBe(1006)
  expect(received).toEqual([])
  await expect.poll(() => echo.heard).toEqual(['closed'])
})

it.each([true, false])(
  'a mute connection drops its input when the service ignores input while silent: %s',
  async ignoresInputWhenSilent => {
    const echo = await openEcho({
      faults: [{ type: 'mute' }],
      faultBehaviour: { ...FAULT_BEHAVIOUR, ignoresInputWhenSilent },
    })
    const { socket, received } = await call(echo)
    socket.send('one')
    socket.close()
    await expect.poll(() => echo.heard).toEqual(ignoresInputWhenSilent ? ['closed'] : ['one', 'closed'])
    expect(received).toEqual([])
  },
)

it.each([true, false])(
  'garbage is sent before any message of the client when the service garbles at once: %s',
  async garbageAtOnce => {
    const echo = await openEcho({ faults: [{ type: 'garble' }], faultBehaviour: { ...FAULT_BEHAVIOUR, garbageAtOnce } })
    const { socket, received } = await call(echo)
    if (garbageAtOnce) await expect.poll(() => received).toEqual(['?', 'bytes'])
    expect(received).toEqual(garbageAtOnce ? ['?', 'bytes'] : [])
    socket.send('one')
    await expect.poll(() => received).toEqual(['?', 'bytes', 'one'])
  },
)

it('a connection closes after its idle time without messages, and by closeIdle()', async () => {
  const time = new VirtualTime()
  const echo = await openEcho({ time })
  const [first, second] = [await call(echo), await call(echo)]
  time.advance(IDLE_MS - 1)
  first.socket.send('one')
  await expect.poll(() => first.received).toEqual(['one'])
  time.advance(1)
  expect(await second.closed).toBe(1000)
  await expect.poll(() => echo.counts.open).toBe(1)
  echo.closeIdle()
  expect(await first.closed).toBe(1000)
})
