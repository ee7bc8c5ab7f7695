export { BullConnections, type BullOptions } from './io/bull-connections.ts'
export { BullEnvironmentQueue } from './io/bull-environment-queue.ts'
export { BullRunQueue } from './io/bull-run-queue.ts'
export { JournalDirectory } from './journal/io/journal-directory.ts'
export { keepReplayingJournals, type ReplayServices } from './journal/replay-journals.ts'
export { RunJournals, type RunJournalsOptions } from './journal/run-journals.ts'
export { OwnedRun, type OwnedRunEnding } from './owned-run.ts'
export type { EnvironmentQueue, RunCommand, RunQueue, UpdateOutcome, Work } from './protocol.ts'
export { type ExpiredContents, type ExpirySweep, expireContents } from './recordings/expire-contents.ts'
export {
  type JoinedState,
  type JoinServices,
  type JoinSweep,
  joinRecording,
  joinRecordings,
} from './recordings/join-recording.ts'
export {
  type RecordedRun,
  RecordingSpool,
  type RecordingSpoolOptions,
  type SpoolPlace,
} from './recordings/recording-spool.ts'
export { RepeatedFailureLog, type RepeatedFailureLogOptions } from './repeated-failure-log.ts'
export { notOursNow, retryUntilAnswered } from './retry-until-answered.ts'
export { RunLeases, type RunLeasesOptions } from './run-leases.ts'
