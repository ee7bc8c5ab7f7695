import { setImmediate as nextTurn } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import type { PacketIo } from '../packet-io/packet-io.ts'
import type { MediaParameters } from '../session/media-session.ts'
import { SessionRings } from '../session/session-rings.ts'
import { MediaThreadLoop } from './media-thread-loop.ts'
import { PortablePacketIo } from './portable-packet-io.ts'
import { COMMAND_POSTED, LATENESS_US, THREAD_WORDS, type ThreadCommand, type ThreadReply } from './thread-protocol.ts'

const PARAMETERS: MediaParameters = {
  remote: { address: '127.0.0.1', port: 9 },
  direction: 'sendrecv',
  codec: 'PCMU',
  payloadType: 0,
  ptimeMs: 20,
  dtmfPayloadType: 101,
  srtp: null,
}

/** The usual limit of admission. */
const LATENESS_LIMIT_MS = 40

/** A thread's loop over `io`, as the main thread sees it. */
function startThread(io: PacketIo) {
  const { port1, port2 } = new MessageChannel()
  const replies: ThreadReply[] = []
  /** How many replies came at once. */
  const batches: number[] = []
  const waiting: (() => void)[] = []
  port1.on('message', (batch: ThreadReply[]) => {
    replies.push(...batch)
    batches.push(batch.length)
    for (const look of [...waiting]) look()
  })
  const words = new Int32Array(new SharedArrayBuffer(4 * THREAD_WORDS))
  const post = (command: ThreadCommand) => {
    port1.postMessage(command)
    Atomics.store(words, COMMAND_POSTED, 1)
  }
  return {
    replies,
    batches,
    words,
    post,
    running: new MediaThreadLoop(io, port2, '127.0.0.1', words).run(),
    seen: (fits: (reply: ThreadReply) => boolean) =>
      new Promise<void>(resolve => {
        const look = () => {
          if (replies.some(fits)) resolve()
        }
        waiting.push(look)
        look()
      }),
    open: (session: number) =>
      post({
        type: 'open',
        session,
        port: 35_498 + 2 * session,
        rings: new SessionRings().memory,
        recording: null,
      } as ThreadCommand),
    close: () => port1.close(),
  }
}

/** Virtual time that passes while the thread waits, by `sendMs` for each packet that it sends and by `lookMs` for each look at the clock. */
class SlowPacketIo implements PacketIo {
  readonly kind = 'native'
  readonly counters = { received: 0, sent: 0, receiveDropped: 0, sendDropped: 0 }
  sendMs = 0
  lookMs = 0
  #nowMs = 0
  #sockets = 0
  #waits = 0

  async open(): Promise<number> {
    return this.#sockets++
  }

  port(): number {
    return 0
  }

  async wait(deadline: number): Promise<void> {
    this.#nowMs = Math.max(this.#nowMs, deadline)
    if (++this.#waits % 8 === 0) await nextTurn()
  }

  poll(): number {
    return 0
  }

  send(_batch: unknown, count: number): void {
    this.counters.sent += count
    this.#nowMs += count * this.sendMs
  }

  close(): void {}

  now(): number {
    this.#nowMs += this.lookMs
    return this.#nowMs
  }
}

describe('a media thread', () => {
  it('with more calls than it holds is seen to be late although it leaves out packets, and is in time again with fewer', async () => {
    const io = new SlowPacketIo()
    const { words, post, open, seen, running, close } = startThread(io)
    const lateMs = () => Atomics.load(words, LATENESS_US) / 1000
    const sessions = Array.from({ length: 40 }, (_, i) => i + 1)
    sessions.forEach(open)
    await seen(reply => reply.type === 'opened' && reply.session === 40)
    for (const session of sessions)
      post({ type: 'session', session, command: { type: 'apply', parameters: PARAMETERS } })
    // 2,000 packets a second, of which it can send 400.
    io.sendMs = 2.5
    while (lateMs() <= LATENESS_LIMIT_MS) await nextTurn()
    io.sendMs = 0.1
    while (lateMs() > 5) await nextTurn()
    const [sent, from] = [io.counters.sent, io.now()]
    while (io.now() < from + 1000) await nextTurn()
    expect((io.counters.sent - sent) / (io.now() - from)).toBeCloseTo(2, 1)
    post({ type: 'stop' })
    await running
    close()
  })

  it('that gets a thousand commands at once handles them in their order between its wakes', async () => {
    const io = new SlowPacketIo()
    const { replies, batches, post, open, seen, running, close } = startThread(io)
    open(1)
    await seen(reply => reply.type === 'opened')
    post({ type: 'session', session: 1, command: { type: 'apply', parameters: PARAMETERS } })
    // A command takes 0.1 ms: all of them would keep five packets waiting.
    io.lookMs = 0.1
    for (let i = 0; i < 1000; i++) post({ type: 'session', session: 1, command: { type: 'statistics' } })
    post({ type: 'session', session: 1, command: { type: 'close' } })
    await seen(reply => reply.type === 'session' && reply.reply.type === 'closed')
    const types = replies.flatMap(reply => (reply.type === 'session' ? [reply.reply.type] : []))
    expect(types.filter(type => type === 'statistics')).toHaveLength(1000)
    expect(types.at(-1)).toBe('closed')
    expect(Math.max(...batches)).toBeLessThan(40)
    expect(io.counters.sent).toBeGreaterThan(4)
    post({ type: 'stop' })
    await running
    close()
  })

  it('an error in one media session ends only that session', async () => {
    const { replies, post, open, seen, running, close } = startThread(new PortablePacketIo())
    for (const session of [1, 2]) open(session)
    await seen(reply => reply.type === 'opened' && reply.session === 2)
    for (const session of [1, 2]) post({ type: 'session', session, command: { type: 'apply', parameters: PARAMETERS } })
    const key = { suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: new Uint8Array(3) } as const
    const broken = { ...PARAMETERS, srtp: { send: key, receive: key } }
    post({ type: 'session', session: 1, command: { type: 'apply', parameters: broken } })
    await seen(reply => reply.type === 'session' && reply.session === 1 && reply.reply.type === 'failed')
    post({ type: 'session', session: 2, command: { type: 'statistics' } })
    await seen(reply => reply.type === 'session' && reply.session === 2 && reply.reply.type === 'statistics')
    post({ type: 'stop' })
    await running
    await seen(reply => reply.type === 'session' && reply.reply.type === 'closed')
    expect(replies.filter(reply => reply.type === 'session' && reply.reply.type === 'closed')).toMatchObject([
      { session: 2 },
    ])
    close()
  })
})
