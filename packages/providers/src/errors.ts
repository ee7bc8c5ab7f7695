import { type CodeOf, errorsOf, type ParleyError } from '@parley/kernel'

/** The errors of this package. A code is stable: the API, logs and timelines show it. */
export const ProviderError = errorsOf({
  format_not_supported: { retryable: false, text: 'The service does not accept this audio format.' },
  language_not_supported: { retryable: false, text: 'The service does not support this language.' },
  model_busy: { retryable: true, text: 'The model service accepts no more requests at the moment.' },
  model_failed: { retryable: true, text: 'The model service gave no usable answer.' },
  model_misconfigured: { retryable: false, text: 'The settings of the model service cannot be used.' },
  model_refused: { retryable: false, text: 'The model service refused the request.' },
  model_unreachable: { retryable: true, text: 'The model service cannot be reached.' },
  prompt_too_long: { retryable: false, text: 'The prompt is longer than the model accepts.' },
  recogniser_busy: { retryable: true, text: 'The recogniser accepts no more streams at the moment.' },
  recogniser_closed: { retryable: false, text: 'The recogniser was closed.' },
  recogniser_failed: { retryable: true, text: 'The recogniser failed.' },
  recogniser_misconfigured: { retryable: false, text: 'The settings of the recogniser cannot be used.' },
  recogniser_refused: { retryable: false, text: 'The recogniser refused the stream.' },
  recogniser_unreachable: { retryable: true, text: 'The recogniser cannot be reached.' },
  speed_out_of_range: { retryable: false, text: 'The voice cannot speak at this speed.' },
  text_blank: { retryable: false, text: 'There is no text to embed.' },
  text_empty: { retryable: false, text: 'There is no text to speak.' },
  text_too_long: { retryable: false, text: 'The text is longer than the voice accepts.' },
  voice_busy: { retryable: true, text: 'The voice accepts no more utterances at the moment.' },
  voice_closed: { retryable: false, text: 'The voice was closed.' },
  voice_failed: { retryable: true, text: 'The voice failed.' },
  voice_misconfigured: { retryable: false, text: 'The settings of the voice cannot be used.' },
  voice_refused: { retryable: false, text: 'The voice service refused the request.' },
  voice_unknown: { retryable: false, text: 'The service has no such voice.' },
  voice_unreachable: { retryable: true, text: 'The voice service cannot be reached.' },
})

export type ProviderErrorCode = CodeOf<typeof ProviderError>

/** The errors that the ports of this package throw and report. */
export type ProviderFailure = ParleyError<ProviderErrorCode>
