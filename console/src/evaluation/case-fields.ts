import type { RequestTo, ResultFrom } from '@parley/client'

export type Suite = ResultFrom<'test_suites.get'>
export type SuiteEdits = RequestTo<'test_suites.edit'>['body']['edits']
type UpsertCase = Extract<SuiteEdits[number], { readonly op: 'upsert_case' }>
/** A case as it is sent: fields with a default may be missing. */
export type CaseInput = UpsertCase['case']
type Script = Extract<CaseInput['caller'], { readonly kind: 'script' }>
export type AssertionInput = CaseInput['assertions'][number]

/** Fields of a case that its form shows as JSON; the others have fields of their own. */
export const JSON_FIELDS = ['tags', 'voice', 'dynamic_variables', 'mocks', 'max_turns', 'timeout_ms'] as const

/** The words of a script, one step per line. */
export function linesOf(steps: Script['steps']): string {
  return steps.map(({ says }) => (says ?? '').replace(/\s+/g, ' ')).join('\n')
}

/** The steps with the words of `lines`; each keeps its other fields. Steps without a line are removed; a line that is empty says nothing. */
export function stepsOf(lines: string, steps: Script['steps']): Script['steps'] {
  return lines
    .replace(/\n+$/, '')
    .split('\n')
    .map((line, index) => {
      const { says: _, ...others } = steps[index] ?? {}
      const words = line.trim()
      return words === '' ? others : { ...others, says: words }
    })
}

/** The initial fields of an assertion, by type. */
const ASSERTIONS = {
  outcome: { kinds: ['completed'] },
  final_node: { node_ids: ['NODE'] },
  node_visited: { node_ids: ['NODE'] },
  node_not_visited: { node_ids: ['NODE'] },
  path: { node_ids: ['NODE', 'NODE'] },
  turn_lands: { step: 1, node_ids: ['NODE'] },
  tool_called: { action_id: 'ACTION' },
  tool_not_called: { action_id: 'ACTION' },
  said: { role: 'agent', contains: 'WORDS' },
  not_said: { role: 'agent', contains: 'WORDS' },
  variable: { name: 'VARIABLE', op: 'exists' },
  ended_by: { values: ['agent'] },
  max_latency_ms: { percentile: 'p95', value: 2000 },
  judge: { criterion: 'CRITERION' },
} as const satisfies { readonly [Type in AssertionInput['type']]: object }

export const ASSERTION_TYPES = Object.keys(ASSERTIONS) as readonly AssertionInput['type'][]

/** A new assertion of this type whose id none of `others` has. */
export function newAssertion(type: AssertionInput['type'], others: readonly { readonly id: string }[]): AssertionInput {
  const isFree = (id: string) => others.every(other => other.id !== id)
  let id: string = type
  for (let count = 2; !isFree(id); count += 1) id = `${type}_${count}`
  return { type, id, ...ASSERTIONS[type] } as AssertionInput
}

/** The initial fields of a new case. */
export function newCase(cases: readonly Pick<CaseInput, 'case_id'>[], language: CaseInput['language']): CaseInput {
  let count = cases.length + 1
  while (cases.some(({ case_id }) => case_id === `case_${count}`)) count += 1
  return {
    case_id: `case_${count}`,
    name: '',
    language,
    caller: { kind: 'script', steps: [{ says: '' }] },
    assertions: [newAssertion('outcome', [])],
  }
}
