import type { DialogSnapshot } from '@parley/sip'
import { expect, it } from 'vitest'
import { VirtualLine } from './virtual-line.ts'

const acks = (line: VirtualLine) => line.signalling.passed.filter(({ text }) => text.startsWith('ACK ')).length

it('audio of an answered call flows while its dialog is stored; the ACK follows', async () => {
  const line = new VirtualLine()
  const stored: DialogSnapshot[] = []
  const storing = Promise.withResolvers<void>()
  const leg = await line.dial({
    beforeAcknowledging: dialog => {
      stored.push(dialog)
      return storing.promise
    },
  })
  await line.pass(700)
  expect(leg.state).toBe('active')
  expect(stored).toEqual([leg.dialog])
  expect(line.a.eventTypes()).toEqual(expect.arrayContaining(['answered', 'first-packet']))
  leg.play(new Int16Array(1600).fill(1000))
  await line.pass(240)
  expect(leg.played()).toBe(1600)
  expect(line.b.captured().left.some(sample => Math.abs(sample) > 500)).toBe(true)
  expect(acks(line)).toBe(0)
  expect(line.b.eventTypes()).not.toContain('answered')
  storing.resolve()
  await line.pass(200)
  expect(acks(line)).toBe(1)
  expect(line.b.eventTypes()).toContain('answered')
  leg.hangUp()
  await line.pass(1000)
  expect([line.a.end, line.b.end]).toMatchObject([{ cause: 'bye', answered: true, confirmed: true }, { cause: 'bye' }])
})

it('a call that is hung up before its dialog is stored sends ACK, then BYE, and counts as answered', async () => {
  const line = new VirtualLine()
  const leg = await line.dial({ beforeAcknowledging: () => new Promise(() => {}) })
  await line.pass(300)
  leg.hangUp()
  await line.pass(300)
  expect([acks(line), line.a.end]).toEqual([0, undefined])
  await line.pass(2000)
  expect(acks(line)).toBe(1)
  expect(line.a.end).toMatchObject({ cause: 'bye', by: 'local', answered: true, confirmed: true })
  expect(line.b.end).toMatchObject({ cause: 'bye', by: 'remote' })
})

it('the SDP answer to a delayed offer waits with its ACK', async () => {
  const line = new VirtualLine()
  const storing = Promise.withResolvers<void>()
  const leg = await line.dial({ delayedOffer: true, beforeAcknowledging: () => storing.promise })
  await line.pass(500)
  expect([leg.state, acks(line)]).toEqual(['active', 0])
  storing.resolve()
  await line.pass(500)
  expect(acks(line)).toBe(1)
  expect(line.b.leg!.state).toBe('active')
})
