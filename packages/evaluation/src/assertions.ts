import type { Assertion } from '@parley/contract'
import { percentiles } from '@parley/kernel'
import { allHold, compares, containsText, matchesPattern } from './json-conditions.ts'
import type { TrialRecord } from './trial-record.ts'

/** The result of an assertion; `passed` null: it could not be judged. */
export interface AssertionResult {
  readonly id: string
  readonly type: string
  readonly passed: boolean | null
  /** Why it did not pass, or the judge's reason; null: nothing to say. */
  readonly message: string | null
}

type Judged = Exclude<Assertion, { readonly type: 'judge' }>

/** Judges an assertion by the record of the trial. Assertions of the type `judge` are decided by a model elsewhere. */
export function judgeAssertion(assertion: Judged, record: TrialRecord): AssertionResult {
  const message = faultOf(assertion, record)
  return { id: assertion.id, type: assertion.type, passed: message === null, message }
}

/** Why the assertion does not hold; null: it holds. */
function faultOf(assertion: Judged, record: TrialRecord): string | null {
  switch (assertion.type) {
    case 'node_visited':
      return unless(isVisited(assertion, record), () => `visited were ${pathOf(record)}`)
    case 'node_not_visited': {
      const visited = record.nodes.find(({ node_id }) => assertion.node_ids.includes(node_id))
      return visited === undefined ? null : `${visited.node_id} was visited in turn ${visited.turn}`
    }
    case 'path':
      return unless(followsPath(assertion, record), () => `the path was ${pathOf(record)}`)
    case 'turn_lands': {
      const node = record.landings.get(assertion.step)
      if (node === undefined) return `the caller did not reach step ${assertion.step}`
      const { node_ids } = assertion
      return unless(node_ids.length === 0 || node_ids.includes(node), () => `step ${assertion.step} ended at ${node}`)
    }
    case 'final_node': {
      const node = record.nodes.at(-1)?.node_id ?? 'no node'
      return unless(assertion.node_ids.includes(node), () => `the conversation ended at ${node}`)
    }
    case 'tool_called':
      return toolFault(assertion, record)
    case 'tool_not_called':
      return unless(
        record.calls.every(call => call.action_id !== assertion.action_id),
        () => `${assertion.action_id} was called`,
      )
    case 'said':
      return unless(isSaid(assertion, record), () => `the ${assertion.role} did not say it`)
    case 'not_said':
      return unless(!isSaid(assertion, record), () => `the ${assertion.role} said it`)
    case 'variable': {
      const value = record.variable(assertion.name)
      return unless(
        compares(assertion, value),
        () => `${assertion.name} is ${value === undefined ? 'not set' : `"${value}"`}`,
      )
    }
    case 'outcome':
      return unless(
        assertion.kinds.some(kind => kind === record.outcome.kind),
        () => `the outcome was ${record.outcome.kind}`,
      )
    case 'ended_by':
      return unless(
        assertion.values.some(value => value === record.outcome.ended_by),
        () => `it was ended by the ${record.outcome.ended_by}`,
      )
    case 'max_latency_ms': {
      const latency = percentiles(record.latenciesMs)
      if (latency === null) return 'no answer was timed'
      const measured = Math.round(latency[assertion.percentile])
      return unless(measured <= assertion.value, () => `${assertion.percentile} was ${measured} ms`)
    }
  }
}

function unless(holds: boolean, fault: () => string): string | null {
  return holds ? null : fault()
}

function isVisited(
  { node_ids, match, by_turn = Number.POSITIVE_INFINITY }: Extract<Assertion, { type: 'node_visited' }>,
  { nodes }: TrialRecord,
): boolean {
  const visited = new Set(nodes.filter(({ turn }) => turn <= by_turn).map(({ node_id }) => node_id))
  return match === 'all' ? node_ids.every(id => visited.has(id)) : node_ids.some(id => visited.has(id))
}

function followsPath({ node_ids, order }: Extract<Assertion, { type: 'path' }>, { nodes }: TrialRecord): boolean {
  if (order === 'exact')
    return nodes.length === node_ids.length && nodes.every(({ node_id }, index) => node_id === node_ids[index])
  let next = 0
  for (const { node_id } of nodes) if (node_id === node_ids[next]) next++
  return next === node_ids.length
}

function toolFault(
  { action_id, times, arguments: conditions }: Extract<Assertion, { type: 'tool_called' }>,
  { calls }: TrialRecord,
): string | null {
  const ofAction = calls.filter(call => call.action_id === action_id)
  const count = ofAction.filter(call => allHold(conditions, call.arguments)).length
  if (times === undefined ? count > 0 : count === times) return null
  const used = ofAction.map(call => JSON.stringify(call.arguments)).join(', ')
  return `${action_id} was called ${count} times with such arguments; calls: ${used === '' ? 'none' : used}`
}

function isSaid(
  { role, contains, regex, by_turn = Number.POSITIVE_INFINITY }: Extract<Assertion, { type: 'said' | 'not_said' }>,
  { speech }: TrialRecord,
): boolean {
  return speech.some(
    said =>
      said.role === role &&
      said.turn <= by_turn &&
      (contains === undefined ? matchesPattern(said.text, regex!) : containsText(said.text, contains)),
  )
}

function pathOf({ nodes }: TrialRecord): string {
  return nodes.length === 0 ? 'no nodes' : nodes.map(({ node_id }) => node_id).join(', ')
}
