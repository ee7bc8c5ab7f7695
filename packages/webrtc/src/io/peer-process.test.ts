import { afterAll, describe, expect, it, vi } from 'vitest'
import { BrowserStandIn } from '../testing/index.ts'
import { PeerProcess } from './peer-process.ts'

const SOON = { timeout: 30_000, interval: 50 }
const options = {
  bindAddress: '127.0.0.1',
  ports: null,
  announcedAddress: null,
  iceServers: () => [],
  relayOnly: false,
}
const peers = new PeerProcess({
  ...options,
  onProblem: (what, error) => {
    throw new Error(what, { cause: error })
  },
})
afterAll(() => peers.close())

describe('a peer connection with a browser', () => {
  it('a page that floods its data channel reaches the engine with a few messages a second', async () => {
    const browser = new BrowserStandIn()
    const received: string[] = []
    let isOpen = false
    const answer: typeof fetch = async (_, request) => {
      const audio = { mid: '0', payloadType: 111, fmtp: null }
      const media = { address: '127.0.0.1', port: 9 }
      const peer = await peers.connect({ sdp: String(request?.body), audio, media })
      peer.onEvent(event => {
        if (event.type === 'channel') isOpen = true
        if (event.type === 'message') received.push(event.text)
      })
      return new Response(peer.answer, { status: 201 })
    }
    expect(await browser.call('http://127.0.0.1', 'unused', answer)).toBe(201)
    await vi.waitFor(() => expect(isOpen).toBe(true), SOON)
    for (let message = 0; message < 5000; message++) browser.send({ type: 'digits', digits: '1' })
    // The channel keeps the order: this one comes after the flood.
    await vi.waitFor(() => {
      browser.send({ type: 'hangup' })
      expect(received.at(-1)).toBe('{"type":"hangup"}')
    }, SOON)
    expect(received.length).toBeGreaterThan(0)
    expect(received.length).toBeLessThan(2500)
    browser.close()
  })
})
