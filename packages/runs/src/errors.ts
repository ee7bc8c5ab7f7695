import { errorsOf } from '@parley/kernel'

/** The errors of this package. A code is stable: the API, logs and timelines show it. */
export const RunsError = errorsOf({
  journal_broken: { retryable: false, text: 'A journal holds a record that cannot be read.' },
  journal_full: { retryable: false, text: 'The journal has no space for another record.' },
  ledger_unavailable: { retryable: true, text: 'The effect could not be written; it was not sent.' },
  recording_unavailable: { retryable: true, text: 'No recording can begin now.' },
  run_lost: { retryable: false, text: 'Another process owns the run.' },
  segment_missing: { retryable: true, text: 'A segment of a recording was deleted or changed while it was read.' },
  timeline_broken: { retryable: false, text: 'The stored timeline is not the one that this process wrote.' },
  unknown_recording: { retryable: false, text: 'The database has no such recording.' },
})
