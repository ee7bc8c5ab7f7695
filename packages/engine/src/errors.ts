import { errorsOf } from '@parley/kernel'

/** The errors of this package. A code is stable: logs and timelines show it. */
export const EngineError = errorsOf({
  draining: { retryable: false, text: 'The engine drains and dials no new calls.' },
  header_refused: { retryable: false, text: 'A variable of the run cannot be sent as a header.' },
  internal: { retryable: false, text: 'The engine failed: see the cause.' },
  recogniser_failed: { retryable: true, text: 'The recogniser gave no usable transcript.' },
  run_lost: { retryable: false, text: 'Another process owns the run.' },
  run_not_active: { retryable: false, text: 'The run is over or was cancelled.' },
  too_many_calls: { retryable: true, text: 'As many calls are live as the engine may have.' },
  transfer_refused: { retryable: false, text: 'The leg cannot transfer the call now.' },
  voice_failed: { retryable: true, text: 'Speech synthesis failed: see the cause.' },
  voice_stalled: { retryable: true, text: 'The voice delivered no audio in time.' },
})
