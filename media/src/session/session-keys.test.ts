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
    'loses nothing when the answer takes %d ms, over a network that re-orders',
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
