import { type Scope, type TestCase, testCase } from '@parley/contract'
import { readInputLog } from '@parley/conversation'
import { recordedMocks, startedActions } from '@parley/evaluation'
import type { Plan } from '@parley/flow'
import { type Queries, type RecordedRun, readInputs, type Sealer } from '@parley/store'
import { timelineOf } from './run-timeline.ts'

const MAX_STEPS = 30
const MAX_WORDS = 1000
const MAX_NODES = 50

/** The case of a test run that replays a run: its log has the caller and the answers of actions. */
export function replayCase(runId: string, variables: Readonly<Record<string, string>>, plan: Plan): TestCase {
  return testCase.parse({
    case_id: caseIdOf(runId),
    name: `Replay of run ${runId}`,
    tags: ['replay'],
    language: languageOf(plan),
    caller: { kind: 'script', steps: [{ hangs_up: true, says: '-' }] },
    dynamic_variables: variables,
    max_turns: MAX_STEPS,
    assertions: [{ type: 'outcome', id: 'unchanged', kinds: ['completed'] }],
  })
}

function caseIdOf(runId: string): string {
  return `run-${runId.replaceAll('-', '').slice(-12)}`
}

function languageOf({ settings: { language } }: Plan): TestCase['language'] {
  const [first] = typeof language === 'string' ? [language] : language
  return first?.startsWith('es') ? 'es' : 'en'
}

/**
 * A case that plays the caller of a recorded run and expects the nodes that the run visited; it does not block. Its actions are answered
 * as they were in the run, when its trials are carried out (`withRecordedAnswers`). Null: the run's data are outside the bounds of a case.
 */
export function recordedCase(run: RecordedRun, plan: Plan): TestCase | null {
  const made = testCase.safeParse({
    case_id: caseIdOf(run.run_id),
    name: `The caller of run ${run.run_id}`,
    tags: ['recorded'],
    language: languageOf(plan),
    caller: {
      kind: 'script',
      steps: run.caller
        .filter(move => 'presses' in move || move.says !== '')
        .slice(0, MAX_STEPS)
        .map(move => ('presses' in move ? move : { says: [...move.says].slice(0, MAX_WORDS).join('') })),
    },
    dynamic_variables: run.dynamic_variables,
    max_turns: MAX_STEPS,
    blocking: false,
    assertions: [{ type: 'path', id: 'path', node_ids: run.nodes.slice(0, MAX_NODES), order: 'subsequence' }],
  })
  return made.success ? made.data : null
}

/** The case with the recorded answers of the run's actions as mocks. Without a log, or with a redacted one, its actions are not answered. */
export async function withRecordedAnswers(
  test_case: TestCase,
  runId: string,
  db: Queries,
  { scope, sealer }: { readonly scope: Scope; readonly sealer: Sealer },
): Promise<TestCase> {
  const bytes = await readInputs(db, scope, runId, sealer)
  const log = bytes === null ? null : readInputLog(bytes)
  if (log === null || log.header.redacted) return test_case
  return { ...test_case, mocks: recordedMocks(log, startedActions(await timelineOf(db, scope, runId))) }
}
