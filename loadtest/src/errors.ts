import { errorsOf } from '@parley/kernel'

/** The errors of the fake carrier and of the webhook receiver. */
export const LoadtestError = errorsOf({
  bad_uri: { retryable: false, text: 'The address is not a SIP URI.' },
  listen_failed: { retryable: true, text: 'The server cannot listen on its address.' },
})
