import { json, text, variableName } from '@parley/nodes'
import { z } from 'zod'
import { conditionOperator, fitsOperator, jsonCondition, linearPattern, MISFIT } from './json-condition.ts'

/** An id of a node, or `component_id/node_id`. */
const nodeRef = text(1, 128)
const actionRef = text(1, 128)
const turn = z.int().min(0)

const id = text(1, 64).regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 'a letter or digit, then letters, digits, _ . -')
const nodeIds = (min: number, max: number) => z.array(nodeRef).min(min).max(max)
const of = <Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), id, ...shape })

const speech = {
  role: z.enum(['agent', 'user']),
  /** Exactly one of `contains` (in any case) and `regex`. */
  contains: text(1, 1000).optional(),
  regex: linearPattern.optional(),
  /** Only what was said up to this turn of the caller counts. */
  by_turn: turn.optional(),
}
const hasOnePattern = (said: { readonly contains?: unknown; readonly regex?: unknown }) =>
  (said.contains === undefined) !== (said.regex === undefined)
const ONE_PATTERN = { path: ['contains'], message: 'exactly one of contains and regex is required' }

/** A promise about a trial; `id` is unique in its case. Turns count the caller's turns from 1; turn 0 is before the first. */
export const assertion = z
  .discriminatedUnion('type', [
    of('node_visited', {
      node_ids: nodeIds(1, 20),
      match: z.enum(['any', 'all']).default('any'),
      by_turn: turn.optional(),
    }),
    of('node_not_visited', { node_ids: nodeIds(1, 20) }),
    of('path', { node_ids: nodeIds(1, 50), order: z.enum(['exact', 'subsequence']).default('subsequence') }),
    /** The step of the script (from 1) ends at one of the nodes; without nodes: the caller reaches the step. */
    of('turn_lands', { step: z.int().min(1).max(30), node_ids: nodeIds(0, 20) }),
    of('final_node', { node_ids: nodeIds(1, 20) }),
    of('tool_called', {
      action_id: actionRef,
      /** Exact number of calls; default: at least one. */
      times: z.int().min(1).max(100).optional(),
      /** Conditions on the arguments of the calls that count. */
      arguments: z.array(jsonCondition).max(10).default([]),
    }),
    of('tool_not_called', { action_id: actionRef }),
    of('said', speech).refine(hasOnePattern, ONE_PATTERN),
    of('not_said', speech).refine(hasOnePattern, ONE_PATTERN),
    of('variable', { name: variableName, op: conditionOperator, value: json.optional() }).refine(fitsOperator, {
      path: ['value'],
      message: MISFIT,
    }),
    of('outcome', {
      kinds: z
        .array(
          z.enum([
            'completed',
            'no_answer',
            'busy',
            'voicemail',
            'transferred',
            'caller_hung_up',
            'agent_hung_up',
            'silence',
            'max_duration',
            'error',
            'cancelled',
          ]),
        )
        .min(1)
        .max(11),
    }),
    of('ended_by', {
      values: z
        .array(z.enum(['caller', 'agent', 'system', 'operator']))
        .min(1)
        .max(4),
    }),
    of('max_latency_ms', { percentile: z.enum(['p50', 'p90', 'p95']), value: z.int().min(1).max(60_000) }),
    /** A model judges the transcript by this criterion. */
    of('judge', { criterion: text(1, 2000) }),
  ])
  .meta({ id: 'Assertion' })

export type Assertion = z.output<typeof assertion>
