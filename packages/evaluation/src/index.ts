export type { AssertionResult } from './assertions.ts'
export { caseFault } from './case-validity.ts'
export { runTrial, type TrialReport, type TrialRunner } from './run-trial.ts'
export { assistantModel, type TrialOptions } from './trial.ts'
export type { TrialRecord } from './trial-record.ts'
export {
  type CaseChange,
  type CaseVerdict,
  caseVerdict,
  changeOf,
  type JudgedCase,
  runSummary,
  runVerdict,
  type TrialVerdict,
} from './verdicts.ts'
