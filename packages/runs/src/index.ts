export { type HeldEnding, HeldRun } from './held-run.ts'
export type { RunOrder, UpdateOutcome, WakeUps, Work } from './protocol.ts'
export { RunDesk, type RunDeskOptions } from './run-desk.ts'
