import { describe, expect, it } from 'vitest'
import type { TransportInput } from './transport.ts'
import { TransportEventQueue } from './transport-event-queue.ts'

const failed = (sendId: number): TransportInput => ({ type: 'send-failed', sendId, code: 'x', detail: '' })

describe('the order of transport events', () => {
  it('events are delivered after submit returns, in the order in which they were queued', async () => {
    const inbox = new TransportEventQueue()
    const told: number[] = []
    inbox.listen(input => told.push((input as { sendId: number }).sendId))
    inbox.hold(() => inbox.put(failed(1)))
    expect(told).toEqual([])
    inbox.put(failed(2))
    expect(told).toEqual([1, 2])
    await Promise.resolve()
    expect(told).toEqual([1, 2])
  })

  it('an event that a listener causes is delivered after the current one', () => {
    const inbox = new TransportEventQueue()
    const told: string[] = []
    inbox.listen(input => {
      const id = (input as { sendId: number }).sendId
      told.push(`begin ${id}`)
      if (id === 1) inbox.hold(() => inbox.put(failed(2)))
      told.push(`end ${id}`)
    })
    inbox.put(failed(1))
    expect(told).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2'])
  })

  it('close delivers the queued events and drops later ones', () => {
    const inbox = new TransportEventQueue()
    const told: number[] = []
    inbox.listen(input => {
      const id = (input as { sendId: number }).sendId
      told.push(id)
      if (id === 1) {
        inbox.put(failed(2))
        inbox.close()
        inbox.put(failed(3))
      }
    })
    inbox.put(failed(1))
    expect(told).toEqual([1, 2])
  })
})
