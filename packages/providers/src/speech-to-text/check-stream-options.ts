import { NARROWBAND } from '@parley/kernel'
import { ProviderError } from '../errors.ts'
import { primaryTag } from '../text-to-speech/request.ts'
import type { SpeechStreamOptions, SpeechToText } from './speech-to-text.ts'

/** Throws `ProviderError` "language_not_supported" or "format_not_supported" for options that the recogniser does not accept. */
export function checkStreamOptions(
  { language, format = NARROWBAND }: SpeechStreamOptions,
  { languages, formats = [NARROWBAND] }: Pick<SpeechToText, 'languages' | 'formats'>,
): void {
  if (!languages.includes(primaryTag(language))) {
    const known = languages.join(', ')
    throw new ProviderError('language_not_supported', `This recogniser supports ${known}, not "${language}".`)
  }
  const { sampleRateHz, channels } = format
  if (formats.some(one => one.sampleRateHz === sampleRateHz && one.channels === channels)) return
  const rates = formats.map(one => one.sampleRateHz).join(', ')
  throw new ProviderError(
    'format_not_supported',
    `This recogniser accepts mono audio at ${rates} Hz, not ${channels}-channel audio at ${sampleRateHz} Hz.`,
  )
}
