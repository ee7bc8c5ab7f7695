import { checkFormat } from '../declared-formats.ts'
import { ProviderError } from '../errors.ts'
import { primaryTag } from '../text-to-speech/request.ts'
import type { SpeechStreamOptions, SpeechToText } from './speech-to-text.ts'

/** Throws `ProviderError` "language_not_supported" or "format_not_supported" for options that the recogniser does not accept. */
export function checkStreamOptions(
  { language, format }: SpeechStreamOptions,
  { languages, formats }: Pick<SpeechToText, 'languages' | 'formats'>,
): void {
  if (!languages.includes(primaryTag(language))) {
    const known = languages.join(', ')
    throw new ProviderError('language_not_supported', `This recogniser supports ${known}, not "${language}".`)
  }
  checkFormat('recogniser', format, formats)
}
