import { errorsOf } from '@parley/kernel'

/** The errors of this package. A code is stable: logs and timelines show it. */
export const JobsError = errorsOf({
  agent_not_ready: { retryable: false, text: "The agent's services were not ready in time." },
  analysis_given_up: { retryable: false, text: 'The analysis of a run failed for the last time.' },
  hang_up_failed: { retryable: false, text: 'The call of a dead process could not be ended.' },
  model_failed: { retryable: true, text: 'The model gave no usable answer.' },
  model_not_ready: { retryable: false, text: 'The model for the analysis was not available in time.' },
  provider_failed: { retryable: false, text: "One of the agent's services failed." },
  timeline_broken: { retryable: false, text: 'The stored timeline is longer than the database said.' },
})
