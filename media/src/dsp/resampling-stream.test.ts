import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { resample } from './resample.ts'
import { ResamplingStream } from './resampling-stream.ts'

describe('resampling in pieces', () => {
  it.each([24_000, 22_050, 16_000, 8000])(
    'resampling in pieces makes of %i Hz what resampling the whole makes, however it is cut',
    fromHz => {
      const random = new SeededRandom(fromHz)
      const whole = new Int16Array(random.bytes(2 * 5003).buffer)
      const stream = new ResamplingStream(fromHz, 8000)
      const made: number[] = []
      for (let at = 0; at < whole.length; ) {
        const length = 1 + ((random.bytes(1)[0]! * 3) % 500)
        made.push(...stream.push(whole.subarray(at, at + length)))
        at += length
      }
      made.push(...stream.end())
      expect(made).toEqual([...resample(whole, fromHz, 8000)])
    },
  )
})
