import { edge, goBackCondition, instruction, type Json, transitionCondition } from '@parley/contract'
import type { z } from 'zod'
import { equal, given, isObject, type JsonObject } from './json.ts'
import type { SourceLocation } from './source-location.ts'

/** The prompt that exports write on an edge in a single slot; the slot itself says when the edge is taken. */
const PROMPT_OF_SLOT: Readonly<Record<string, string>> = {
  always_edge: 'Always',
  skip_response_edge: 'Skip response',
  else_edge: 'Else',
  edge: 'Transfer failed',
  success_edge: 'Sent successfully',
  failed_edge: 'Failed to send',
}

/** The standard form of a value that exports write in several ways. */
export function normalised(schema: z.core.$ZodType, value: Json, location: SourceLocation): Json {
  if (schema === edge || schema === goBackCondition) return isObject(value) ? normalisedEdge(value, location) : value
  if (schema === transitionCondition) return normalisedCondition(value)
  if (schema === instruction) return typeof value === 'string' ? { type: 'prompt', text: value } : value
  return value
}

function normalisedEdge(value: JsonObject, location: SourceLocation): JsonObject {
  const { condition: legacy, ...tidy } = value
  if (tidy.destination_node_id === '') delete tidy.destination_node_id
  const own = given(value, 'transition_condition')
  if (own !== undefined && !isBlank(own)) {
    const isDifferent = legacy !== undefined && !equal(normalisedCondition(legacy), normalisedCondition(own))
    return isDifferent ? { ...tidy, condition: legacy } : tidy
  }
  if (legacy !== undefined && legacy !== null && !isBlank(legacy)) return { ...tidy, transition_condition: legacy }
  // In a list the last part of the location is an index: only slots for one edge have a name there.
  const prompt = PROMPT_OF_SLOT[String(location.at.at(-1))]
  return prompt === undefined ? value : { ...tidy, transition_condition: { type: 'prompt', prompt } }
}

function isBlank(value: Json): boolean {
  const condition = normalisedCondition(value)
  return isObject(condition) && condition.type === 'prompt' && (condition.prompt ?? '') === ''
}

function normalisedCondition(value: Json): Json {
  if (typeof value === 'string') return { type: 'prompt', prompt: value }
  if (!isObject(value)) return value
  const { left, right, ...rest } = value
  if (left !== undefined && !Array.isArray(value.equations)) {
    // A single equation without a list: the operator belongs to the equation.
    const { operator, ...others } = rest
    const alone = { left, ...(operator !== undefined && { operator }), ...(right !== undefined && { right }) }
    return { ...others, type: 'equation', equations: [alone] }
  }
  if (given(value, 'type') !== undefined) return value
  return { ...value, type: Array.isArray(value.equations) ? 'equation' : 'prompt' }
}
