import { errorsOf } from '@parley/kernel'

/** The errors of this package. A code is stable: the API, logs and timelines show it. */
export const ConversationError = errorsOf({
  code_unavailable: { retryable: true, text: 'Too much code of agents is waiting for a thread.' },
  effect_not_found: { retryable: false, text: 'The ledger has no effect with this id.' },
  effect_step_not_allowed: { retryable: false, text: 'The state of the effect does not allow this step.' },
  input_log_unreadable: { retryable: false, text: 'The log of inputs was not written by this program.' },
  ledger_unavailable: { retryable: true, text: 'The effect could not be written; it was not sent.' },
  model_failed: { retryable: true, text: 'The model gave no usable answer.' },
  turn_in_progress: { retryable: true, text: 'The agent has not answered the last message yet.' },
})
