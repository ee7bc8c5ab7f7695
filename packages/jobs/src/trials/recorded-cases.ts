import { type TestCase, testCase } from '@parley/contract'
import type { Plan } from '@parley/flow'
import type { RecordedRun } from '@parley/store'

const MAX_STEPS = 30
const MAX_WORDS = 1000
const MAX_NODES = 50

/**
 * A case that plays the caller of a recorded run and expects the nodes that the run visited; it does not block. Null: the run's data
 * are outside the bounds of a case.
 */
export function recordedCase(run: RecordedRun, plan: Plan): TestCase | null {
  const compact = run.run_id.replaceAll('-', '')
  const { language } = plan.settings
  const [first] = typeof language === 'string' ? [language] : language
  const made = testCase.safeParse({
    case_id: `run-${compact.slice(-12)}`,
    name: `The caller of run ${run.run_id}`,
    tags: ['recorded'],
    language: first?.startsWith('es') ? 'es' : 'en',
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
