import { errorsOf } from '@parley/kernel'

/** The errors of the control plane. A code is stable: the API, logs and timelines show it. */
export const ApiError = errorsOf({
  always_outdated: { retryable: true, text: 'The draft changed each time while it was worked on.' },
  answer_broken: { retryable: false, text: 'An answer does not match the contract.' },
  catalogue_empty: { retryable: false, text: 'No service of a kind is ready.' },
  lease_lost: { retryable: false, text: 'Another request took over the idempotency key.' },
  outcome_unknown: { retryable: false, text: 'The effect may have happened.' },
  reading_failed: { retryable: true, text: 'A worker thread failed to read a request.' },
})
