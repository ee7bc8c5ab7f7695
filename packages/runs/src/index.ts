export { FailedRounds, type FailedRoundsOptions } from './failed-rounds.ts'
export { type HeldEnding, HeldRun } from './held-run.ts'
export { BullWakeUps, type BullWakeUpsOptions } from './io/bull-wake-ups.ts'
export { JournalDirectory } from './journal/io/journal-directory.ts'
export { keepLandingJournals, type LandServices } from './journal/land-journals.ts'
export { RunJournals, type RunJournalsOptions } from './journal/run-journals.ts'
export type { RunOrder, UpdateOutcome, WakeUps, Work } from './protocol.ts'
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
export { RunDesk, type RunDeskOptions } from './run-desk.ts'
export { notOursNow, untilAnswered } from './until-answered.ts'
