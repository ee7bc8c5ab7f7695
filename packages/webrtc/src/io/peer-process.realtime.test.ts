import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, it, onTestFinished, vi } from 'vitest'
import { WebRtcError } from '../errors.ts'
import { BrowserStandIn } from '../testing/index.ts'
import type { BrowserPeer } from './peer-child.ts'
import { PeerProcess } from './peer-process.ts'

const AUDIO = { mid: '0', payloadType: 111, fmtp: null }
const SOON = { timeout: 60_000, interval: 50 }

async function opened() {
  const problems: unknown[] = []
  const peers = new PeerProcess({
    bindAddress: '127.0.0.1',
    ports: null,
    announcedAddress: null,
    iceServers: () => [],
    relayOnly: false,
    onProblem: (_what, error) => problems.push(error),
  })
  const media = createSocket('udp4')
  media.bind(0, '127.0.0.1')
  await once(media, 'listening')
  const at = { address: '127.0.0.1', port: media.address().port }
  onTestFinished(async () => {
    await peers.close()
    media.close()
  })
  /** Resolves once a browser is connected, with the engine's side of its connection. */
  const connected = async () => {
    const browser = new BrowserStandIn()
    onTestFinished(() => browser.close())
    const sides: BrowserPeer[] = []
    const status = await browser.call('http://signalling.test/', 'token', async (_url, init) => {
      const peer = await peers.connect({ sdp: String(init?.body), audio: AUDIO, media: at })
      sides.push(peer)
      return new Response(peer.answer, { status: 201 })
    })
    expect(status).toBe(201)
    await vi.waitFor(() => expect(browser.state).toBe('connected'), SOON)
    // The stand-in offers again when its library ended the first connection: the engine's side of that one fails soon.
    for (const abandoned of sides.splice(0, sides.length - 1)) abandoned.close()
    const events: string[] = []
    sides[0]!.onEvent(event => events.push(event.type === 'gone' ? `gone: ${event.detail}` : event.type))
    return { browser, events }
  }
  return { peers, problems, connected, offer: (sdp: string) => peers.connect({ sdp, audio: AUDIO, media: at }) }
}

it('when the child process is killed its connections end with the reason, and the next connection starts another process', async () => {
  const { peers, problems, connected } = await opened()
  const calls = [await connected(), await connected()]
  const first = peers.pid!
  process.kill(first, 'SIGKILL')
  const end = 'gone: the process of peer connections ended (SIGKILL)'
  await vi.waitFor(() => {
    for (const { events } of calls) expect(events.at(-1)).toBe(end)
  }, SOON)
  expect(problems).toEqual([expect.objectContaining({ code: 'peer_process_lost' })])
  expect(peers.size).toBe(0)

  await connected()
  expect(peers.pid).not.toBe(first)
  expect(peers.size).toBe(1)
})

it('200 offers of nonsense are refused, and the connections beside them and the child process go on', async () => {
  const { peers, problems, connected, offer } = await opened()
  const { browser, events } = await connected()
  const pid = peers.pid
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, i) => offer(nonsense(i)).catch((error: unknown) => error)),
  )
  for (const outcome of outcomes) expect(WebRtcError.is(outcome, 'offer_refused'), String(outcome)).toBe(true)
  expect([peers.pid, peers.size, problems]).toEqual([pid, 1, []])
  expect([browser.state, events.filter(type => type.startsWith('gone'))]).toEqual(['connected', []])
})

/** Text that is no SDP, and SDP without what an offer needs. */
function nonsense(index: number): string {
  const kinds = [
    '',
    'nonsense',
    'v=0\r\n',
    'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n',
    `m=${'\u0000\uffff'.repeat(index)}`,
    `a=candidate:${'9'.repeat(index * 40)}\r\n`.repeat(5),
  ]
  return kinds[index % kinds.length]!
}
