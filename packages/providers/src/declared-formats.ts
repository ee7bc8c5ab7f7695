import { type AudioFormat, NARROWBAND } from '@parley/kernel'
import { ProviderError } from './errors.ts'

/**
 * Throws `ProviderError` "format_not_supported" unless the service declares `format` (default 8 kHz) among its `formats`
 * (default 8 kHz only). `service`: its kind, for the error text.
 */
export function checkFormat(
  service: 'recogniser' | 'voice',
  { sampleRateHz, channels }: AudioFormat = NARROWBAND,
  formats: readonly AudioFormat[] = [NARROWBAND],
): void {
  if (formats.some(one => one.sampleRateHz === sampleRateHz && one.channels === channels)) return
  const rates = formats.map(one => one.sampleRateHz).join(', ')
  const does = service === 'voice' ? 'delivers' : 'accepts'
  throw new ProviderError(
    'format_not_supported',
    `This ${service} ${does} mono audio at ${rates} Hz, not ${channels}-channel audio at ${sampleRateHz} Hz.`,
  )
}
