import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { writeRtpHeader } from '../rtp/rtp-packet.ts'
import { SRTP_REPLAYED, SRTP_UNAUTHENTICATED } from '../srtp/srtp-result.ts'
import { SrtpSender } from '../srtp/srtp-sender.ts'
import type { SrtpKey } from './media-session.ts'
import { ReceiveKeys } from './receive-keys.ts'
import { SendKeys } from './send-keys.ts'
import { VirtualCall } from './testing/virtual-call.ts'

const random = new SeededRandom(3)
const newKey = (): SrtpKey => ({ suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: random.bytes(30) })

function packet(sender: SrtpSender, sequence: number): [Uint8Array, number] {
  const bytes = new Uint8Array(200)
  writeRtpHeader(bytes, 0, false, sequence, sequence * 160, 7)
  return [bytes, sender.protect(bytes, 172)]
}

describe('keys of the receiving side', () => {
  it('unchanged receive keys keep rollover counter and replay window when they are applied again', () => {
    const keys = new ReceiveKeys()
    const key = newKey()
    const sender = new SrtpSender(key)
    keys.apply(0, key)
    const [first, length] = packet(sender, 1)
    const again = first.slice()
    expect(keys.unprotect(0, first, length)).toBe(172)
    keys.apply(1, { ...key, keyAndSalt: key.keyAndSalt.slice() })
    expect(keys.unprotect(1, again, length)).toBe(SRTP_REPLAYED)
  })

  it('packets under the old key are accepted until one second after the first under the new key', () => {
    const keys = new ReceiveKeys()
    const [oldKey, key] = [newKey(), newKey()]
    const [before, after] = [new SrtpSender(oldKey), new SrtpSender(key)]
    keys.apply(0, oldKey)
    keys.apply(1000, key)
    expect(keys.proven).toBe(false)
    expect(keys.unprotect(5000, ...packet(before, 1))).toBe(172)
    expect(keys.proven).toBe(false)
    expect(keys.unprotect(5020, ...packet(after, 3))).toBe(172)
    expect(keys.proven).toBe(true)
    expect(keys.unprotect(5040, ...packet(before, 2))).toBe(172)
    expect(keys.unprotect(6030, ...packet(before, 4))).toBe(SRTP_UNAUTHENTICATED)
  })

  it('the old receive key is dropped after ten seconds, even without a packet under the new one', () => {
    const keys = new ReceiveKeys()
    const [oldKey, key] = [newKey(), newKey()]
    const before = new SrtpSender(oldKey)
    keys.apply(0, oldKey)
    keys.apply(1000, key)
    expect(keys.unprotect(10_900, ...packet(before, 1))).toBe(172)
    expect(keys.unprotect(11_100, ...packet(before, 2))).toBe(SRTP_UNAUTHENTICATED)
  })
})

describe('rollover counters over a re-key (RFC 3711 section 3.3.1)', () => {
  const WRAPPED = 0x1_0000 + 20_000
  const pair = (send: SrtpKey) => ({ send, receive: newKey() })

  /** A sender that has sent the packets up to the one with the index `last`. */
  function senderUpTo(last: number, key: SrtpKey, onPacket: (packet: Uint8Array, length: number) => void = () => {}) {
    const sender = new SrtpSender(key)
    for (let index = 0; index <= last; index += 1000) onPacket(...packet(sender, index & 0xffff))
    return sender
  }

  it('after a re-key the sender goes on with its rollover counter and its SRTCP index', () => {
    const [oldKey, key] = [newKey(), newKey()]
    const keys = new SendKeys()
    keys.apply(0, pair(oldKey), true)
    const old = keys.sender(0, true)!
    for (let index = 0; index <= WRAPPED; index += 1000) packet(old, index & 0xffff)
    const report = new Uint8Array(60)
    report.set([0x80, 201, 0, 1])
    old.protectRtcp(report, 8)
    keys.apply(1000, { ...pair(key), peerHasSendKey: true }, false)
    const sender = keys.sender(1000, true)!
    expect(sender).not.toBe(old)
    packet(sender, (WRAPPED + 1) & 0xffff)
    expect(sender.rollover).toBe(1)
    const next = new Uint8Array(60)
    next.set([0x80, 201, 0, 1])
    sender.protectRtcp(next, 8)
    expect([...next.subarray(8, 12)]).toEqual([0x80, 0, 0, 1])
  })

  it.each([
    ['keeps its rollover counter', WRAPPED + 1],
    ['restarts its rollover counter at 0', 20_001],
    ['restarts it at 0 and wraps before its first packet arrives', 0x1_0000 + 5],
  ])('a peer that %s at a re-key is heard, and stays heard over the next wrap', (_, first) => {
    const keys = new ReceiveKeys()
    const [oldKey, key] = [newKey(), newKey()]
    keys.apply(0, oldKey)
    senderUpTo(WRAPPED, oldKey, (bytes, length) => expect(keys.unprotect(0, bytes, length)).toBe(172))
    keys.apply(1000, key)
    const sender = new SrtpSender(key)
    for (let index = first & 0xffff; index < first; index += 1000) packet(sender, index & 0xffff)
    if (first > 0xffff) packet(sender, (first - 1) & 0xffff)
    for (let index = first; index < first + 0x1_0000; index += 1000) {
      expect(keys.unprotect(2000, ...packet(sender, index & 0xffff))).toBe(172)
    }
  })

  it('a key that no packet proved does not lose the counters of the key before it', () => {
    const keys = new ReceiveKeys()
    const [oldKey, unused, key] = [newKey(), newKey(), newKey()]
    keys.apply(0, oldKey)
    const old = senderUpTo(WRAPPED, oldKey, (bytes, length) => keys.unprotect(0, bytes, length))
    keys.apply(1000, unused)
    keys.apply(20_000, key)
    const sender = new SrtpSender(key)
    sender.continueFrom(old)
    expect(keys.unprotect(20_000, ...packet(sender, (WRAPPED + 1) & 0xffff))).toBe(172)
  })
})

describe('keys of the sending side', () => {
  const pair = (send: SrtpKey) => ({ send, receive: newKey() })

  it('new send keys are used at once at the start, when only ours changed, and when the peer has them', () => {
    const keys = new SendKeys()
    keys.apply(0, pair(newKey()), true)
    const first = keys.sender(0, false)
    keys.apply(10, pair(newKey()), false)
    const second = keys.sender(10, false)
    expect(second).not.toBe(first)
    keys.apply(20, { ...pair(newKey()), peerHasSendKey: true }, true)
    expect(keys.sender(20, false)).not.toBe(second)
  })

  it('new send keys wait at a re-key for the first packet under the peer’s new key, at most 500 ms', () => {
    const keys = new SendKeys()
    keys.apply(0, pair(newKey()), true)
    const first = keys.sender(0, true)
    const next = newKey()
    keys.apply(1000, pair(next), true)
    keys.apply(1100, pair(next), false)
    expect(keys.sender(1200, false)).toBe(first)
    const second = keys.sender(1201, true)
    expect(second).not.toBe(first)
    keys.apply(2000, pair(newKey()), true)
    expect(keys.sender(2499, false)).toBe(second)
    expect(keys.sender(2500, false)).not.toBe(second)
  })
})

describe('a re-key in mid-call', () => {
  it.each([0, 40, 180, 450])(
    'a re-key in mid-call loses nothing when the answer takes %d ms, over a network that re-orders',
    async delay => {
      const call = await VirtualCall.start({ seed: 5, conditions: { latencyMs: 20, jitterMs: 4, reorder: 0.05 } })
      call.a.talking = true
      call.b.talking = true
      for (let rekey = 0; rekey < 5; rekey++) {
        call.run(3000)
        call.rekey(delay)
      }
      call.run(3000)
      // At the end nothing is held back any more.
      call.network.setConditions({ latencyMs: 20 })
      call.run(200)
      for (const end of [call.a, call.b]) {
        expect(end.listener.brokenAt).toBe(-1)
        expect(await end.session.statistics()).toMatchObject({
          packetsLost: 0,
          concealedSamples: 0,
          rejected: { unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 },
        })
      }
    },
  )
})
