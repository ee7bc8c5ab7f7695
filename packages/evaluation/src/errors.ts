import { errorsOf } from '@parley/kernel'

/** The errors of this package. A code is stable: results of trials show it. */
export const EvaluationError = errorsOf({
  trial_timeout: { retryable: false, text: 'A trial did not end in time.' },
})
