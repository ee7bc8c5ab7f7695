import { Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { withStallTimeout } from './stall-timeout.ts'

async function* pieces(made: string[]) {
  for (let n = 0; n < 100; n++) {
    made.push(String(n))
    yield String(n)
  }
}

describe('streaming at the pace of the reader', () => {
  it('a reader gets all pieces', async () => {
    const stalled = vi.fn()
    const read = await Readable.from(withStallTimeout(pieces([]), 10_000, stalled)).toArray()
    expect(Buffer.concat(read).toString()).toBe(Array.from({ length: 100 }, (_, n) => n).join(''))
    expect(stalled).not.toHaveBeenCalled()
  })

  it('a reader that stalls is disconnected and no further pieces are generated', async () => {
    const made: string[] = []
    await new Promise<void>(resolve => {
      const reader = withStallTimeout(pieces(made), 5, resolve)
      void reader.next()
    })
    expect(made).toEqual(['0'])
  })
})
