import {
  conditionalEdges,
  isHttpAction,
  nodeTypeOf,
  openParameters,
  slottedEdges,
  type VariableItem,
} from '@parley/nodes'
import { variableOf } from './equation.ts'
import type { FlowContext } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'

/** A value that the flow will read out of the caller's answer. */
interface ExpectedField {
  readonly name: string
  readonly description: string
  readonly type: VariableItem['type']
  readonly choices?: readonly string[]
  readonly examples?: readonly string[]
}

/** What a node waits for: conditions of its edges in words, and values that it or the nodes behind its edges read; branches read none. */
export interface Expectation {
  readonly conditions: readonly string[]
  readonly fields: readonly ExpectedField[]
}

/** Most branches in a row. */
const MAX_BRANCHES = 3
/** Name of the variable that holds the digits of the caller's last turn. */
const DIGITS = 'current_digits'
/** A condition of the model that is about digits, so that the digits it waits for are unknown. */
const ABOUT_DIGITS = /digit|\bkeys?\b|press|enter|number|tecla|d[íi]gito|marca|puls|n[úu]mero/i

export function expectationIn(context: FlowContext): Expectation {
  const here = context.here()
  if (here === undefined) return { conditions: [], fields: [] }
  const conditions = conditionalEdges(here.node).flatMap(({ transition_condition: condition }) =>
    condition.type === 'prompt' ? [condition.prompt] : [],
  )
  return {
    conditions,
    fields: [here, ...behind(context, here, MAX_BRANCHES)].flatMap(place => fieldsOf(context, place)),
  }
}

/** The nodes behind the edges of a node, and those behind a branch among them. */
function behind(context: FlowContext, from: PlacedNode, branches: number): PlacedNode[] {
  return slottedEdges(from.node).flatMap(({ edge }) => {
    const place = context.graph.destination(from, edge)
    if (place === undefined) return []
    return place.node.type === 'branch' && branches > 0 ? behind(context, place, branches - 1) : [place]
  })
}

function fieldsOf(context: FlowContext, { node }: PlacedNode): ExpectedField[] {
  if (node.type === 'extract_dynamic_variables') return node.variables.map(fieldOf)
  const ids = nodeTypeOf(node).actionIds?.(node) ?? []
  return ids.flatMap(id => {
    const action = context.graph.action(id)
    if (action === undefined) return []
    if (action.kind === 'extract_dynamic_variables') return action.variables.map(fieldOf)
    return isHttpAction(action) ? parameterFields(openParameters(action)) : []
  })
}

function fieldOf(item: VariableItem): ExpectedField {
  const { name, description, type, examples } = item
  return {
    name,
    description,
    type,
    ...(item.type === 'enum' && { choices: item.choices }),
    ...(examples !== undefined && examples.length > 0 && { examples }),
  }
}

function parameterFields({ properties }: Readonly<Record<string, unknown>>): ExpectedField[] {
  return Object.entries((properties ?? {}) as Readonly<Record<string, unknown>>).map(([name, schema]) => {
    const { type, description, enum: choices } = (schema ?? {}) as Readonly<Record<string, unknown>>
    const described = { name, description: typeof description === 'string' ? description : '' }
    if (Array.isArray(choices))
      return { ...described, type: 'enum', choices: choices.filter(choice => typeof choice === 'string') }
    if (type === 'boolean') return { ...described, type }
    return { ...described, type: type === 'number' || type === 'integer' ? 'number' : 'string' }
  })
}

/** The digits that the node's equations wait for; null: they wait for none, or for digits that are not known in advance. */
export function awaitedDigits(context: FlowContext, { node }: PlacedNode): readonly string[] | null {
  const answers: string[] = []
  for (const { transition_condition: condition } of conditionalEdges(node)) {
    if (condition.type === 'prompt') {
      if (ABOUT_DIGITS.test(condition.prompt)) return null
      continue
    }
    for (const { left, operator, right } of condition.equations) {
      if (variableOf(left) !== DIGITS) continue
      const answer = context.render(right ?? '').trim()
      if (operator !== '==' || !/^[0-9*#]+$/.test(answer)) return null
      answers.push(answer)
    }
  }
  return answers.length > 0 ? answers : null
}
