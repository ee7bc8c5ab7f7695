import { MessageChannel } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import type { MediaParameters } from '../session/media-session.ts'
import { SessionRings } from '../session/session-rings.ts'
import { MediaThreadLoop } from './media-thread-loop.ts'
import { PortablePacketIo } from './portable-packet-io.ts'
import { COMMAND_POSTED, THREAD_WORDS, type ThreadCommand, type ThreadReply } from './thread-protocol.ts'

const PARAMETERS: MediaParameters = {
  remote: { address: '127.0.0.1', port: 9 },
  direction: 'sendrecv',
  codec: 'PCMU',
  payloadType: 0,
  ptimeMs: 20,
  dtmfPayloadType: 101,
  srtp: null,
}

describe('a media thread', () => {
  it('an error in one media session ends only that session', async () => {
    const { port1, port2 } = new MessageChannel()
    const replies: ThreadReply[] = []
    const waiting: (() => void)[] = []
    port1.on('message', (batch: ThreadReply[]) => {
      replies.push(...batch)
      for (const look of [...waiting]) look()
    })
    const seen = (fits: (reply: ThreadReply) => boolean) =>
      new Promise<void>(resolve => {
        const look = () => {
          if (replies.some(fits)) resolve()
        }
        waiting.push(look)
        look()
      })
    const words = new Int32Array(new SharedArrayBuffer(4 * THREAD_WORDS))
    const tell = (command: ThreadCommand) => {
      port1.postMessage(command)
      Atomics.store(words, COMMAND_POSTED, 1)
    }
    const running = new MediaThreadLoop(new PortablePacketIo(), port2, '127.0.0.1', words).run()
    for (const session of [1, 2])
      tell({
        type: 'open',
        session,
        port: 35_498 + 2 * session,
        rings: new SessionRings().memory,
        recording: null,
      } as ThreadCommand)
    await seen(reply => reply.type === 'opened' && reply.session === 2)
    for (const session of [1, 2]) tell({ type: 'session', session, command: { type: 'apply', parameters: PARAMETERS } })
    const key = { suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: new Uint8Array(3) } as const
    const broken = { ...PARAMETERS, srtp: { send: key, receive: key } }
    tell({ type: 'session', session: 1, command: { type: 'apply', parameters: broken } })
    await seen(reply => reply.type === 'session' && reply.session === 1 && reply.reply.type === 'failed')
    tell({ type: 'session', session: 2, command: { type: 'statistics' } })
    await seen(reply => reply.type === 'session' && reply.session === 2 && reply.reply.type === 'statistics')
    tell({ type: 'stop' })
    await running
    await seen(reply => reply.type === 'session' && reply.reply.type === 'closed')
    expect(replies.filter(reply => reply.type === 'session' && reply.reply.type === 'closed')).toMatchObject([
      { session: 2 },
    ])
    port1.close()
  })
})
