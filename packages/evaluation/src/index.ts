export { caseFault } from './case-validity.ts'
export { runTrial, type TrialReport, type TrialRunner } from './run-trial.ts'
export type { TrialRecord } from './trial-record.ts'
export { caseVerdict, changeOf, runSummary, runVerdict } from './verdicts.ts'
