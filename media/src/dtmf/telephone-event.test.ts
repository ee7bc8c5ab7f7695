import { randomBelow, SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digitOfEvent, eventOfDigit, readTelephoneEvent, writeTelephoneEvent } from './telephone-event.ts'
import { TelephoneEventReceiver } from './telephone-event-receiver.ts'
import { TelephoneEventSender } from './telephone-event-sender.ts'

interface Packet {
  readonly tick: number
  readonly timestamp: number
  readonly marker: boolean
  readonly payload: Uint8Array
}

interface Heard {
  readonly digit: string
  readonly timestamp: number
  readonly durationMs: number
}

const TICK = 160
const SSRC = 0x12345678

function packetsOf(sender: TelephoneEventSender, firstTimestamp: number, maxTicks = 4000): Packet[] {
  const packets: Packet[] = []
  for (let tick = 0; sender.active && tick < maxTicks; tick++) {
    const payload = new Uint8Array(4)
    if (sender.write((firstTimestamp + tick * TICK) >>> 0, TICK, payload, 0) === 4)
      packets.push({ tick, timestamp: sender.timestamp, marker: sender.marker, payload })
  }
  return packets
}

function send(digits: string, options = {}, firstTimestamp = 0): Packet[] {
  const sender = new TelephoneEventSender()
  sender.enqueue(digits, options)
  return packetsOf(sender, firstTimestamp)
}

/** Hands packets over in the given order, each when its tick (or the latest one before) says, then waits a second. */
function hear(packets: readonly Packet[], receiver = new TelephoneEventReceiver()): Heard[] {
  const heard: Heard[] = []
  const drain = () => {
    while (receiver.take())
      heard.push({
        digit: digitOfEvent(receiver.event),
        timestamp: receiver.timestamp,
        durationMs: receiver.durationMs,
      })
  }
  let now = 0
  for (const { tick, timestamp, marker, payload } of packets) {
    for (; now < tick * 20; now += 2.5) {
      receiver.expire(now)
      drain()
    }
    receiver.receive(SSRC, timestamp, marker, payload, 0, payload.length, now)
    drain()
  }
  receiver.expire(now + 1000)
  drain()
  return heard
}

const digitsOf = (heard: readonly Heard[]) => heard.map(({ digit }) => digit).join('')
const isEnd = (packet: Packet) => (packet.payload[1]! & 0x80) !== 0

describe('telephone-event payload', () => {
  it('a telephone-event payload is read back as written', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 255 }),
        fc.boolean(),
        fc.integer({ min: 0, max: 63 }),
        fc.integer({ min: 0, max: 0xffff }),
        (event, end, volume, duration) => {
          const bytes = new Uint8Array(6)
          const report = { event: 0, end: false, volume: 0, duration: 0 }
          expect(writeTelephoneEvent(bytes, 2, event, end, volume, duration)).toBe(4)
          expect(readTelephoneEvent(bytes, 2, 4, report)).toBe(true)
          expect(report).toEqual({ event, end, volume, duration })
        },
      ),
    )
  })

  it('a payload that is too short is refused', () => {
    const report = { event: 0, end: false, volume: 0, duration: 0 }
    expect(readTelephoneEvent(new Uint8Array(8), 0, 3, report)).toBe(false)
    expect(readTelephoneEvent(new Uint8Array(8), 6, 4, report)).toBe(false)
    expect(writeTelephoneEvent(new Uint8Array(3), 0, 1, false, 0, 0)).toBe(0)
  })

  it('events 0 to 15 are the sixteen digits, others are none', () => {
    expect([...'0123456789*#ABCD'].map(eventOfDigit)).toEqual(Array.from({ length: 16 }, (_, i) => i))
    expect(eventOfDigit('d')).toBe(15)
    expect([eventOfDigit('E'), eventOfDigit(''), eventOfDigit('12')]).toEqual([-1, -1, -1])
    expect(digitOfEvent(16)).toBe('')
  })
})

describe('sending digits', () => {
  it('a digit is sent as one event: marker first, constant timestamp, growing duration, end packet three times', () => {
    const packets = send('5', {}, 0xffffff00)
    expect(packets.map(({ tick }) => tick)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(new Set(packets.map(({ timestamp }) => timestamp))).toEqual(new Set([0xffffff00]))
    expect(packets.map(({ marker }) => marker)).toEqual([true, ...Array(6).fill(false)])
    expect(packets.map(({ payload }) => (payload[2]! << 8) | payload[3]!)).toEqual([160, 320, 480, 640, 800, 800, 800])
    expect(packets.map(isEnd)).toEqual([false, false, false, false, true, true, true])
  })

  it('a digit lasts 100 ms with a gap of 60 ms by default, and at least 40 ms', () => {
    const starts = (packets: Packet[]) => packets.filter(({ marker }) => marker).map(({ tick }) => tick)
    expect(starts(send('12'))).toEqual([0, 8])
    expect(starts(send('12', { durationMs: 10, gapMs: 0 }))).toEqual([0, 4])
    expect(starts(send('12', { durationMs: 250, gapMs: 200 }))).toEqual([0, 23])
  })

  it('audio is suppressed from the first digit to the end of the last gap, and each sent batch is reported', () => {
    const sender = new TelephoneEventSender()
    expect(sender.active).toBe(false)
    sender.enqueue('1')
    sender.enqueue('23')
    expect(sender.active).toBe(true)
    packetsOf(sender, 0)
    expect(sender.active).toBe(false)
    expect([sender.takeSent(), sender.takeSent(), sender.takeSent()]).toEqual(['1', '23', null])
  })

  it('a digit of more than 65535 units is sent in contiguous segments, and only the last has the end bit', () => {
    const packets = send('7', { durationMs: 20_000 })
    expect([...new Set(packets.map(({ timestamp }) => timestamp))]).toEqual([0, 65535, 131070])
    expect(packets.filter(({ marker }) => marker)).toHaveLength(1)
    expect(packets.filter(isEnd).map(({ timestamp }) => timestamp)).toEqual([131070, 131070, 131070])
    expect(hear(packets)).toEqual([{ digit: '7', timestamp: 0, durationMs: 20_000 }])
  })

  it('cancelling completes the current digit and drops the rest', () => {
    const sender = new TelephoneEventSender()
    sender.enqueue('12', { durationMs: 500 })
    sender.enqueue('34')
    const payload = new Uint8Array(4)
    const first: Packet[] = []
    for (let tick = 0; tick < 3; tick++) {
      sender.write(tick * TICK, TICK, payload, 0)
      first.push({ tick, timestamp: sender.timestamp, marker: sender.marker, payload: payload.slice() })
    }
    sender.cancel()
    const rest = packetsOf(sender, 3 * TICK).map(packet => ({ ...packet, tick: packet.tick + 3 }))
    expect(hear([...first, ...rest])).toEqual([{ digit: '1', timestamp: 0, durationMs: 60 }])
    expect([sender.takeSent(), sender.takeSent()]).toEqual(['1', null])
    expect(sender.active).toBe(false)
  })

  it('invalid digits, durations and too long strings are refused', () => {
    const sender = new TelephoneEventSender()
    const codeOf = (digits: string, options = {}) => {
      try {
        sender.enqueue(digits, options)
        return null
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    expect(codeOf('12x')).toBe('invalid_digits')
    expect(codeOf('1', { durationMs: Number.NaN })).toBe('invalid_digit_timing')
    expect(codeOf('1'.repeat(257))).toBe('too_many_digits')
    expect(sender.active).toBe(false)
  })
})

describe('receiving digits', () => {
  it('every digit is reported once with start and duration, if one of its packets arrives', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[0-9*#A-D]{1,8}$/),
        fc.integer({ min: 40, max: 400 }),
        fc.integer({ min: 0, max: 0xffffffff }),
        fc.integer({ min: 1, max: 0x7fffffff }),
        (digits, durationMs, firstTimestamp, seed) => {
          const random = new SeededRandom(seed)
          const packets = send(digits, { durationMs }, firstTimestamp)
          const events = [...new Set(packets.map(({ timestamp }) => timestamp))]
          const survivors = events.flatMap(timestamp => {
            const own = packets.filter(packet => packet.timestamp === timestamp)
            const delivered = own.filter(() => randomBelow(random, 2) === 0)
            return delivered.length > 0 ? delivered : [own[randomBelow(random, own.length)]!]
          })
          // A gap of more than three intervals inside one digit ends it early; it must still be one digit.
          expect(digitsOf(hear(survivors))).toBe(digits)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('a digit ends 60 ms after its last packet when all three end packets are lost', () => {
    const packets = send('9').filter(packet => !isEnd(packet))
    const receiver = new TelephoneEventReceiver()
    for (const { tick, timestamp, marker, payload } of packets)
      receiver.receive(SSRC, timestamp, marker, payload, 0, 4, tick * 20)
    receiver.expire(60 + 59)
    expect(receiver.take()).toBe(false)
    receiver.expire(60 + 60)
    expect(receiver.take()).toBe(true)
    expect(receiver.durationMs).toBe(80)
  })

  it('one end packet alone gives the full duration and the true start of a digit', () => {
    expect(hear(send('#', { durationMs: 300 }, 777).slice(-1))).toEqual([
      { digit: '#', timestamp: 777, durationMs: 300 },
    ])
  })

  it('presses of the same key are separate digits even without end packets', () => {
    const packets = send('4444').filter(packet => !isEnd(packet))
    expect(digitsOf(hear(packets))).toBe('4444')
  })

  it('packets out of order or duplicated do not change the digits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 0x7fffffff }), seed => {
        const random = new SeededRandom(seed)
        const packets = send('1212')
        const shuffled = packets
          .flatMap(packet => (randomBelow(random, 4) === 0 ? [packet, packet] : [packet]))
          // Delayed by up to 60 ms: less than a digit, so digits keep their order.
          .map(packet => ({ ...packet, tick: packet.tick + randomBelow(random, 4) }))
          .sort((a, b) => a.tick - b.tick)
        expect(digitsOf(hear(shuffled))).toBe('1212')
      }),
      { numRuns: 300 },
    )
  })

  it('a long key press is reported once, even if packets at the boundary of two segments are lost', () => {
    const packets = send('6', { durationMs: 12_000 }).filter(({ tick }) => tick < 395 || tick > 425)
    expect(digitsOf(hear(packets))).toBe('6')
  })

  it('a new SSRC is a new sender of digits', () => {
    const receiver = new TelephoneEventReceiver()
    const [first] = send('3')
    receiver.receive(1, 0, true, first!.payload, 0, 4, 0)
    receiver.receive(2, 0, true, first!.payload, 0, 4, 10)
    receiver.expire(1000)
    expect([receiver.take(), receiver.ssrc, receiver.take(), receiver.ssrc, receiver.take()]).toEqual([
      true,
      1,
      true,
      2,
      false,
    ])
  })

  it('events that are no digits, short payloads and very old packets are ignored', () => {
    const receiver = new TelephoneEventReceiver()
    receiver.receive(1, 50_000, true, Uint8Array.of(5, 10, 0, 160), 0, 4, 0)
    receiver.receive(1, 50_000, true, Uint8Array.of(36, 0x80, 1, 0), 0, 4, 0)
    receiver.receive(1, 10_000, true, Uint8Array.of(7, 0x80, 1, 0), 0, 4, 0)
    receiver.receive(1, 60_000, true, Uint8Array.of(7, 0x80), 0, 2, 0)
    receiver.expire(1000)
    expect([receiver.take(), receiver.event, receiver.take()]).toEqual([true, 5, false])
  })
})
