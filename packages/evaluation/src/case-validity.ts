import type { Assertion, TestCase } from '@parley/contract'
import type { Plan } from '@parley/flow'
import { type Comparison, patternFault } from './json-conditions.ts'

/** Ids that mocks and assertions may name besides the actions of the plan. */
const BUILT_IN = new Set(['call.transfer'])

/** Why the case cannot test an agent with this plan; null: it can. */
export function caseFault(testCase: TestCase, plan: Plan): string | null {
  const nodes = new Set([
    ...plan.flow.nodes.map(({ id }) => id),
    ...plan.flow.components.flatMap(({ component_id, nodes }) => nodes.map(({ id }) => `${component_id}/${id}`)),
  ])
  const actions = new Set([...BUILT_IN, ...plan.actions.map(({ action_id }) => action_id)])
  for (const node of nodesOf(testCase)) if (!nodes.has(node)) return `the agent has no node "${node}"`
  for (const action of actionsOf(testCase)) if (!actions.has(action)) return `the agent has no action "${action}"`
  for (const pattern of patternsOf(testCase)) {
    const fault = patternFault(pattern)
    if (fault !== null) return `the pattern "${pattern}" cannot be run: ${fault}`
  }
  return null
}

function nodesOf({ assertions, caller }: TestCase): string[] {
  const expected = caller.kind === 'script' ? caller.steps.flatMap(({ expect }) => expect?.lands ?? []) : []
  return [...expected, ...assertions.flatMap(assertion => ('node_ids' in assertion ? assertion.node_ids : []))]
}

function actionsOf({ assertions, mocks }: TestCase): string[] {
  return [...mocks, ...assertions].flatMap(one => ('action_id' in one ? [one.action_id] : []))
}

function patternsOf({ assertions, mocks }: TestCase): string[] {
  const conditions: readonly Comparison[] = [...mocks.flatMap(({ when }) => when), ...assertions.flatMap(conditionsOf)]
  const compared = conditions.flatMap(({ op, value }) => (op === 'regex' && typeof value === 'string' ? [value] : []))
  return [...compared, ...assertions.flatMap(one => ('regex' in one && one.regex !== undefined ? [one.regex] : []))]
}

function conditionsOf(assertion: Assertion): readonly Comparison[] {
  if (assertion.type === 'tool_called') return assertion.arguments
  return assertion.type === 'variable' ? [assertion] : []
}
