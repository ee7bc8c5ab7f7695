import { errorsOf } from '@parley/kernel'

/** The errors of this package. */
export const PhoneError = errorsOf({
  already_listening: { retryable: false, text: 'The call already has a recogniser.' },
  bad_pattern: { retryable: false, text: 'The pattern has no letters or digits.' },
  bad_uri: { retryable: false, text: 'The text is not a SIP URI.' },
  call_ended: { retryable: false, text: 'The call has ended.' },
  internal: { retryable: false, text: 'The phone failed: see the cause.' },
  no_voice: { retryable: false, text: 'The phone has no voice.' },
  not_listening: { retryable: false, text: 'The call has no recogniser.' },
  not_started: { retryable: false, text: 'The phone is not open.' },
  script_failed: { retryable: false, text: 'A step of the script failed: see the cause.' },
  voice_timeout: { retryable: false, text: 'The voice did not finish in time.' },
  wait_timeout: { retryable: false, text: 'The condition did not come true in time.' },
})
