import { createSocket, type Socket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import { markDatagrams, thinDatagrams } from './datagram-sockets.ts'
import { loadNativeAddon } from './native-packet-io.ts'

const addon = loadNativeAddon()
const reason = typeof addon === 'string' ? ` (skipped: ${addon})` : ''

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close()
})

async function bound(address: string): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 })
  sockets.push(socket)
  await new Promise<void>(resolve => socket.bind(0, address, resolve))
  return socket
}

async function sendMany(from: Socket, to: Socket, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(resolve => from.send('x', to.address().port, '127.0.0.1', resolve))
}

describe.skipIf(typeof addon === 'string')(`dropping datagrams in the kernel${reason}`, () => {
  it('a thinned source gets a share of its datagrams through, all others get all, and so does it when it is thinned no more', async () => {
    const [receiver, flooder, other] = (await Promise.all(['127.0.0.1', '127.0.0.2', '127.0.0.3'].map(bound))) as [
      Socket,
      Socket,
      Socket,
    ]
    const received = new Map<string, number>()
    receiver.on('message', (_bytes, { address }) => received.set(address, (received.get(address) ?? 0) + 1))
    expect(thinDatagrams(receiver.address(), ['192.0.2.7', '127.0.0.2', '192.0.2.8'], 64)).toBe(true)
    await sendMany(flooder, receiver, 640)
    await sendMany(other, receiver, 100)
    await expect.poll(() => received.get('127.0.0.3')).toBe(100)
    expect(received.get('127.0.0.2') ?? 0).toBeLessThan(100)
    expect(thinDatagrams(receiver.address(), [], 64)).toBe(true)
    received.clear()
    await sendMany(flooder, receiver, 100)
    await expect.poll(() => received.get('127.0.0.2')).toBe(100)
    expect(thinDatagrams(receiver.address(), [], 64)).toBe(true)
  })

  it('64 sources at once can be thinned', async () => {
    const receiver = await bound('127.0.0.1')
    const sources = Array.from({ length: 63 }, (_, i) => `192.0.2.${i}`)
    expect(thinDatagrams(receiver.address(), [...sources, '127.0.0.2'], 2)).toBe(true)
    expect(() => thinDatagrams(receiver.address(), [...sources, '127.0.0.2', '127.0.0.3'], 2)).toThrow(TypeError)
  })

  it('a socket bound to the wildcard address, also of IPv6, drops datagrams of IPv4', async () => {
    for (const type of ['udp4', 'udp6'] as const) {
      const receiver = createSocket({ type })
      sockets.push(receiver)
      await new Promise<void>(resolve => receiver.bind(0, resolve))
      const flooder = await bound('127.0.0.2')
      let received = 0
      receiver.on('message', () => received++)
      expect(thinDatagrams(receiver.address(), ['127.0.0.2'], 1 << 16)).toBe(true)
      await sendMany(flooder, receiver, 100)
      expect(thinDatagrams(receiver.address(), [], 1)).toBe(true)
      await sendMany(flooder, receiver, 1)
      await expect.poll(() => received).toBeGreaterThan(0)
      expect(received).toBeLessThan(10)
    }
  })

  it('an address at which this process has no UDP socket is refused', () => {
    expect(thinDatagrams({ address: '127.0.0.1', port: 1 }, ['192.0.2.1'], 64)).toBe(false)
  })
})

describe.skipIf(typeof addon === 'string')(`marking datagrams${reason}`, () => {
  it('the sockets of this process can be marked, of IPv4 and IPv6; others cannot', async () => {
    const socket = createSocket('udp6')
    sockets.push(socket)
    await new Promise<void>(resolve => socket.bind(0, '::1', resolve))
    expect(markDatagrams(socket.address(), 160)).toBe(true)
    expect(markDatagrams((await bound('127.0.0.1')).address(), 160)).toBe(true)
    expect(markDatagrams({ address: '127.0.0.1', port: 1 }, 160)).toBe(false)
  })
})
