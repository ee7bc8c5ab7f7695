import type { TestCase } from '@parley/contract'
import { ModelMeter } from '@parley/conversation'
import { ParleyError } from '@parley/kernel'
import { type AssertionResult, judgeAssertion } from './assertions.ts'
import { judgeByModel } from './judge.ts'
import { runTextTrial } from './text-trial.ts'
import { assistantModel, type TrialOptions } from './trial.ts'
import type { TrialRecord } from './trial-record.ts'

/** What came of a trial. `record` null: the conversation could not be held, and `error` says why. */
export interface TrialReport {
  readonly verdict: 'passed' | 'failed' | 'errored'
  readonly record: TrialRecord | null
  readonly assertions: readonly AssertionResult[]
  readonly error: string | null
}

/** Holds the conversation of a case in its mode. */
export type TrialRunner = (options: TrialOptions) => Promise<TrialRecord>

/** Runs one trial and judges it. Rejects only with the reason of `signal`. */
export async function runTrial(options: TrialOptions, runner: TrialRunner = runTextTrial): Promise<TrialReport> {
  const { testCase, signal } = options
  let record: TrialRecord | null = null
  try {
    record = await runner(options)
    const assertions = await judged(testCase, record, options)
    if (record.outcome.kind === 'error') {
      const error = `the agent failed: ${record.outcome.code ?? 'internal'}`
      return { verdict: expectsError(testCase) ? verdictOf(assertions) : 'errored', record, assertions, error }
    }
    return { verdict: verdictOf(assertions), record, assertions, error: null }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ParleyError)) throw error
    return { verdict: 'errored', record, assertions: [], error: `${error.code}: ${error.message}` }
  }
}

/** A case about failures: an agent that fails is what it asserts. */
function expectsError({ assertions }: TestCase): boolean {
  return assertions.some(assertion => assertion.type === 'outcome' && assertion.kinds.includes('error'))
}

async function judged(
  { assertions, caller }: TestCase,
  record: TrialRecord,
  { models, signal }: TrialOptions,
): Promise<AssertionResult[]> {
  const meter = new ModelMeter(usage => void (record.usage as (typeof usage)[]).push(usage))
  const results: AssertionResult[] = []
  for (const assertion of assertions) {
    if (assertion.type !== 'judge') {
      results.push(judgeAssertion(assertion, record))
      continue
    }
    const model = assistantModel(models)
    results.push(await judgeByModel(assertion, record, model === null ? null : meter.metered(model), signal))
  }
  return [...results, ...expectationResults(caller, record)]
}

/** Expectations of the script's steps, as results beside those of the assertions. */
function expectationResults(caller: TestCase['caller'], { missed }: TrialRecord): AssertionResult[] {
  if (caller.kind !== 'script') return []
  return caller.steps.flatMap(({ expect }, index): AssertionResult[] => {
    if (expect === undefined) return []
    const faults = missed.filter(({ step }) => step === index + 1).map(({ message }) => message)
    const message = faults.length === 0 ? null : faults.join('; ')
    return [{ id: `step-${index + 1}`, type: 'expect', passed: message === null, message }]
  })
}

function verdictOf(assertions: readonly AssertionResult[]): TrialReport['verdict'] {
  if (assertions.some(({ passed }) => passed === false)) return 'failed'
  return assertions.some(({ passed }) => passed === null) ? 'errored' : 'passed'
}
