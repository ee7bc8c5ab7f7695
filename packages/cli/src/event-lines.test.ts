import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { expect, it } from 'vitest'
import { describeLegEvent } from './event-lines.ts'

it.each([NARROWBAND, WIDEBAND])(
  'a digit is printed with its time in seconds, at a sample rate of $sampleRateHz Hz',
  format => {
    const atSample = 2.5 * format.sampleRateHz
    expect(describeLegEvent({ type: 'digit', digit: '7', durationMs: 100, atSample, source: 'rfc4733' }, format)).toBe(
      'digit 7 at 2.50 s',
    )
  },
)
