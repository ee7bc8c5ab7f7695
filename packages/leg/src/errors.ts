import { errorsOf } from '@parley/kernel'

/** The errors of this package. */
export const LegError = errorsOf({
  invalid_digits: { retryable: false, text: 'The text contains characters that are not DTMF digits.' },
  srtp_needs_tls: { retryable: false, text: 'SRTP keys are sent in SDP over TLS only.' },
  not_listening: { retryable: false, text: 'The endpoint does not listen on this transport.' },
})
