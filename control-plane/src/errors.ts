import { errorsOf } from '@parley/kernel'

/** The errors of the control plane. A code is stable: the API, logs and timelines show it. */
export const ApiError = errorsOf({
  always_outdated: {
    retryable: true,
    text: 'The draft was changed by others during each attempt: send the request again.',
  },
  answer_broken: { retryable: false, text: 'An answer does not match the schema of its operation.' },
  catalogue_empty: { retryable: false, text: 'The platform has no service of the kind that a new agent needs.' },
  lease_lost: { retryable: false, text: 'The lease on the idempotency key ended before the request did.' },
  outcome_unknown: { retryable: false, text: 'The effect may have happened.' },
  reading_failed: {
    retryable: true,
    text: 'A worker thread failed to parse a large body or to work on a large draft.',
  },
})
