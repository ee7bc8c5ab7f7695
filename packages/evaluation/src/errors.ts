import { errorsOf } from '@parley/kernel'

/** The errors of this package. A code is stable: results of trials show it. */
export const EvaluationError = errorsOf({
  caller_failed: { retryable: false, text: 'The simulated caller could not follow its script.' },
  mode_not_supported: { retryable: false, text: 'Trials in this mode do not support something that the case has.' },
  trial_timeout: { retryable: false, text: 'A trial did not end in time.' },
})
