import { type TestCase, testCase } from '@parley/contract'
import type { Plan } from '@parley/flow'
import type { RecordedRun } from '@parley/store'

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
 * A case that plays the caller of a recorded run and expects the nodes that the run visited; it does not block. Null: the run's data
 * are outside the bounds of a case.
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
        .filter(text => text !== '')
        .slice(0, MAX_STEPS)
        .map(text => ({ says: [...text].slice(0, MAX_WORDS).join('') })),
    },
    dynamic_variables: run.dynamic_variables,
    max_turns: MAX_STEPS,
    blocking: false,
    assertions: [{ type: 'path', id: 'path', node_ids: run.nodes.slice(0, MAX_NODES), order: 'subsequence' }],
  })
  return made.success ? made.data : null
}
