import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { ToneDialling } from '../dtmf/testing/tone-dialling.ts'
import { VirtualCall, type VirtualEnd } from './testing/virtual-call.ts'

function tones(number: string): Int16Array {
  const line = new ToneDialling(0.2 * number.length + 0.3, new SeededRandom(1))
  for (const [i, digit] of [...number].entries()) line.dial(1600 + i * 1600, { digit, onMs: 100 })
  return line.audio()
}

const digitsAt = (end: VirtualEnd) =>
  end.events.flatMap(event => (event.type === 'digit' ? [`${event.digit} ${event.source}`] : []))

describe('DTMF digits as tones', () => {
  it('tones are detected with position and length where no telephone-event was agreed, over jitter and 1 % loss', async () => {
    const call = await VirtualCall.start({ conditions: { latencyMs: 30, jitterMs: 15, loss: 0.01 } })
    call.apply({ a: { dtmfPayloadType: null }, b: { dtmfPayloadType: null } })
    call.run(1000)
    call.a.session.play(tones('159D'))
    call.run(3000)
    expect(digitsAt(call.b)).toEqual(['1 in-band', '5 in-band', '9 in-band', 'D in-band'])
    const [first, second] = call.b.events.filter(event => event.type === 'digit')
    expect(Math.abs(second!.atSample - first!.atSample - 1600)).toBeLessThan(80)
    expect(Math.abs(first!.durationMs - 100)).toBeLessThan(15)
  })

  it('tones are ignored where telephone-event was agreed, and always with "off"', async () => {
    const agreed = await VirtualCall.start()
    const off = await VirtualCall.start({ session: { inBandDigits: 'off' } })
    off.apply({ a: { dtmfPayloadType: null }, b: { dtmfPayloadType: null } })
    for (const call of [agreed, off]) {
      call.a.session.play(tones('159D'))
      call.run(3000)
      expect(digitsAt(call.b)).toEqual([])
    }
  })

  it('with "on", a press that arrives both ways is reported once, as the telephone-event', async () => {
    const call = await VirtualCall.start({ session: { inBandDigits: 'on' } })
    // A gateway that lets the first 60 ms of its tones through before it sends the event.
    const line = new ToneDialling(0.06, new SeededRandom(1)).dial(0, { digit: '7', onMs: 60 })
    call.a.session.play(line.audio())
    call.run(60)
    call.a.session.sendDigits('7')
    call.run(1500)
    expect(digitsAt(call.b)).toEqual(['7 rfc4733'])
    call.a.session.play(tones('42'))
    call.run(2000)
    expect(digitsAt(call.b)).toEqual(['7 rfc4733', '4 in-band', '2 in-band'])
  })
})

describe('payload types that the answer renumbered', () => {
  it('incoming packets use our payload types, outgoing ones the peer’s', async () => {
    const call = await VirtualCall.start()
    // a offered 8 and 101; b answered 98 and 96. a sends b's numbers, b sends a's.
    const codec = 'PCMA'
    call.apply({
      a: { codec, payloadType: 98, receivePayloadType: 8, dtmfPayloadType: 96, receiveDtmfPayloadType: 101 },
      b: { codec, payloadType: 8, receivePayloadType: 98, dtmfPayloadType: 101, receiveDtmfPayloadType: 96 },
    })
    const seen = new Map<string, Set<number>>()
    call.network.onSend = (_from, packet, _length, _ipv4, port) => {
      if (port % 2 === 1) return
      const to = port === call.b.session.local.port ? 'b' : 'a'
      seen.set(to, (seen.get(to) ?? new Set()).add(packet[1]! & 0x7f))
    }
    for (const end of [call.a, call.b]) end.session.sendDigits('3')
    call.run(2000)
    for (const end of [call.a, call.b]) {
      expect(digitsAt(end)).toEqual(['3 rfc4733'])
      const { rejected, packetsReceived } = await end.session.statistics()
      expect(rejected.malformed).toBe(0)
      expect(packetsReceived).toBeGreaterThan(90)
    }
  })

  it('a payload type that is swapped between audio and events has the meaning of our own description', async () => {
    const call = await VirtualCall.start({ suite: null })
    call.apply({
      a: { payloadType: 101, receivePayloadType: 96, dtmfPayloadType: 96, receiveDtmfPayloadType: 101 },
      b: { payloadType: 96, receivePayloadType: 101, dtmfPayloadType: 101, receiveDtmfPayloadType: 96 },
    })
    call.a.talking = true
    call.run(1000)
    call.a.talking = false
    call.run(1000)
    expect(call.b.listener).toMatchObject({ heard: call.a.sentSamples, brokenAt: -1 })
    call.a.session.sendDigits('8')
    call.run(1000)
    expect(digitsAt(call.b)).toEqual(['8 rfc4733'])
  })
})
