import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CappedBytes } from './capped-bytes.ts'

it('CappedBytes joins chunks of any size up to the limit', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 30 })
  fc.assert(
    fc.property(pieces, fc.integer({ min: 0, max: 20_000 }), (given, most) => {
      const bytes = new CappedBytes(most)
      const whole = Buffer.concat(given)
      let all = true
      for (const piece of given) if (!bytes.add(piece)) all = false
      expect(bytes.bytes.equals(whole.subarray(0, most))).toBe(true)
      expect(all).toBe(whole.length <= most)
      expect(bytes.isEmpty).toBe(bytes.bytes.length === 0)
    }),
  )
})

it('CappedBytes copies a chunk, so the caller may reuse its buffer', () => {
  const bytes = new CappedBytes(10)
  const piece = Buffer.from('abc')
  bytes.add(piece)
  piece.fill(0)
  expect(bytes.bytes.toString()).toBe('abc')
})
