import { errorsOf } from '@parley/kernel'

/** The errors of the fake carrier, of the webhook receiver and of the fleet. */
export const LoadtestError = errorsOf({
  bad_scenario: { retryable: false, text: 'The scenario is not valid.' },
  bad_uri: { retryable: false, text: 'The address is not a SIP URI.' },
  generator_failed: { retryable: false, text: 'A process of the fleet ended before its work was done.' },
  listen_failed: { retryable: true, text: 'The server cannot listen on its address.' },
  not_permitted: { retryable: false, text: 'The system does not permit a setting of the generator.' },
  usage: { retryable: false, text: 'The command line is not valid.' },
})
