import { describe, expect, it } from 'vitest'
import { Inbox } from './inbox.ts'
import type { TransportInput } from './transport.ts'

const failed = (sendId: number): TransportInput => ({ type: 'send-failed', sendId, code: 'x', detail: '' })

describe('the order in which a transport tells things', () => {
  it('never tells inside a submit, and keeps the order across both ways in', async () => {
    const inbox = new Inbox()
    const told: number[] = []
    inbox.listen(input => told.push((input as { sendId: number }).sendId))
    inbox.hold(() => inbox.put(failed(1)))
    expect(told).toEqual([])
    inbox.put(failed(2))
    expect(told).toEqual([1, 2])
    await Promise.resolve()
    expect(told).toEqual([1, 2])
  })

  it('finishes telling one thing before the next, when a listener submits', () => {
    const inbox = new Inbox()
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

  it('tells what was queued when it closes, and nothing later', () => {
    const inbox = new Inbox()
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
