import { planSchema } from '@parley/contract/testing'
import { slottedEdges } from '@parley/nodes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryDraft } from '../../fuzz/arbitrary-draft.ts'
import type { Plan } from '../plan/plan.ts'
import { planOf } from '../testing/flow-harness.ts'
import { FlowInterpreter, type FlowOptions } from './flow-interpreter.ts'
import { FlowGraph } from './graph.ts'
import type { Choice, FlowInput, FlowOutput } from './protocol.ts'

type Move = Extract<FlowOutput, { type: 'node' }>

/** What happens next: a kind of input, and a number that picks the request it answers. */
const event = fc.record({
  kind: fc.constantFrom(
    'user',
    'user',
    'blank',
    'digits',
    'spoken',
    'spoken',
    'chosen',
    'chosen',
    'inferred',
    'result',
    'tool',
    'pressed',
    'transfer',
    'reminder',
    'opening',
    'update',
    'started',
  ),
  pick: fc.nat(1000),
})
type Event = { kind: string; pick: number }

const options = fc.constantFrom<FlowOptions>(
  { channel: 'phone', hasCaller: true },
  { channel: 'web', hasCaller: true },
  { channel: 'cloud', hasCaller: false },
)

/** Plays what comes from outside: answers requests, late ones too. */
class Outside {
  readonly outputs: FlowOutput[] = []

  input({ kind, pick }: Event): FlowInput {
    const request_id = this.#some(
      ['say', 'prompt', 'decide', 'infer', 'extract', 'run_action', 'press_digits', 'transfer'],
      pick,
    )
    switch (kind) {
      case 'blank':
        return { type: 'user_turn', text: '' }
      case 'digits':
        return { type: 'digits', digits: String(pick) }
      case 'spoken':
        return { type: 'spoken', request_id, interrupted: pick % 4 === 0 }
      case 'chosen': {
        const latest = this.outputs.findLast(output => output.type === 'prompt' || output.type === 'decide')
        const choices: readonly Choice[] = latest?.choices ?? []
        const choice_id = choices[pick % (choices.length + 1)]?.choice_id ?? null
        return { type: 'chosen', request_id: latest?.request_id ?? 'r0', choice_id }
      }
      case 'inferred':
        return {
          type: 'inferred',
          request_id,
          value: [{ a: pick % 3, day: 'Monday' }, String(pick % 3), null][pick % 3],
        }
      case 'result':
        return {
          type: 'action_result',
          request_id: this.#some(['run_action'], pick),
          outcome: pick % 3 === 0 ? 'failed' : 'succeeded',
          body: { a: pick % 3 },
        }
      case 'tool': {
        const prompt = this.outputs.findLast(output => output.type === 'prompt' && output.tools.length > 0)
        const tools = prompt?.type === 'prompt' ? prompt.tools : []
        const action_id = tools[pick % (tools.length + 1)]?.action_id ?? 'nothing'
        return {
          type: 'tool_call',
          request_id: prompt?.type === 'prompt' ? prompt.request_id : 'r0',
          action_id,
          arguments: { b: String(pick % 3), digits: '1', destination: '+15550100' },
        }
      }
      case 'pressed':
        return { type: 'digits_pressed', request_id }
      case 'transfer':
        return { type: 'transfer_result', request_id, outcome: pick % 5 === 0 ? 'taken' : 'failed' }
      case 'reminder':
      case 'opening':
        return { type: 'silence', kind }
      case 'update':
        return { type: 'variables_updated', values: { b: String(pick % 3) } }
      case 'started':
        return { type: 'started' }
      default:
        return { type: 'user_turn', text: 'words' }
    }
  }

  /** Mostly the newest request of these kinds, sometimes an old one. */
  #some(types: readonly string[], pick: number): string {
    const requests = this.outputs.filter(output => types.includes(output.type) && 'request_id' in output)
    const found = requests.at(pick % 3 === 0 ? -1 - (pick % (requests.length + 1)) : -1)
    return found !== undefined && 'request_id' in found ? found.request_id : 'r0'
  }
}

/** Whether the plan itself allows a move, judged by its text alone. */
function isAllowed(plan: Plan, move: Move, visited: ReadonlySet<string>): boolean {
  const graph = new FlowGraph(plan)
  const to = graph.node(move.node_id)
  const from = move.from_node_id === null ? undefined : graph.node(move.from_node_id)
  if (to === undefined) return false
  if (from === undefined) return move.cause === 'start' && move.node_id === plan.flow.start_node_id
  const edges = slottedEdges(from.node).filter(
    ({ edge }) => edge.id === move.edge_id && edge.destination_node_id === to.node.id,
  )
  switch (move.cause) {
    case 'edge':
      return from.scope === to.scope && edges.some(({ slot }) => slot !== 'else_edge' && slot !== 'edge')
    case 'else':
      return from.scope === to.scope && edges.some(({ slot }) => slot === 'else_edge')
    case 'failure':
      return from.scope === to.scope && edges.some(({ slot }) => slot === 'edge')
    case 'global':
      return to.node.global_node_setting !== null && (to.scope === null || to.scope === from.scope) && to !== from
    case 'start':
      return from.node.type === 'component' && to === graph.start(from.node.component_id)
    case 'return':
      if (!visited.has(move.node_id)) return false
      if (move.edge_id === null)
        return from.node.type === 'end' && to.node.type === 'component' && to.node.component_id === from.scope
      return from.node.global_node_setting?.go_back_conditions.some(({ id }) => id === move.edge_id) === true
  }
}

function play(
  plan: Plan,
  mode: FlowOptions,
  events: readonly Event[],
  check: (outputs: readonly FlowOutput[]) => void,
): FlowInterpreter {
  const flow = new FlowInterpreter(plan, mode)
  const outside = new Outside()
  for (const next of [{ kind: 'started', pick: 0 }, ...events]) {
    const outputs = flow.handle(0, outside.input(next))
    outside.outputs.push(...outputs)
    check(outputs)
  }
  return flow
}

describe('any valid plan under any inputs', () => {
  it('any plan settles after every input and moves only by an edge, a component or a global node', () => {
    const causes = new Set<string>()
    fc.assert(
      fc.property(arbitraryDraft, options, fc.array(event, { minLength: 5, maxLength: 40 }), (draft, mode, events) => {
        const plan = planOf(draft)
        const visited = new Set<string>()
        const requests = new Set<string>()
        let at: string | null = null
        let hasEnded = false
        play(plan, mode, events, outputs => {
          expect(outputs.length).toBeLessThan(1000)
          for (const output of outputs) {
            expect(hasEnded).toBe(false)
            if ('request_id' in output) {
              expect(requests.has(output.request_id)).toBe(false)
              requests.add(output.request_id)
            }
            if (output.type === 'end') hasEnded = true
            if (output.type !== 'node') continue
            expect(output.from_node_id).toBe(at)
            if (!isAllowed(plan, output, visited)) throw new Error(`not allowed: ${JSON.stringify(output)}`)
            visited.add(output.node_id)
            causes.add(output.cause)
            at = output.node_id
          }
        })
      }),
      { numRuns: 120, seed: 5 },
    )
    // The seed is fixed so that this cannot pass without having gone everywhere.
    expect([...causes].sort()).toEqual(['edge', 'else', 'failure', 'global', 'return', 'start'])
  })

  it('an interpreter restored from its stored state continues identically', () => {
    fc.assert(
      fc.property(arbitraryDraft, options, fc.array(event, { maxLength: 15 }), event, (draft, mode, events, last) => {
        const plan = planOf(draft)
        const outside = new Outside()
        const flow = new FlowInterpreter(plan, mode)
        for (const next of [{ kind: 'started', pick: 0 }, ...events])
          outside.outputs.push(...flow.handle(0, outside.input(next)))
        const restored = new FlowInterpreter(plan, mode, JSON.parse(JSON.stringify(flow.state())))
        const input = outside.input(last)
        expect(restored.handle(0, input)).toEqual(flow.handle(0, input))
        expect(restored.state()).toEqual(flow.state())
      }),
      { numRuns: 40 },
    )
  })

  it('any plan that is serialised and parsed again is equal', () => {
    fc.assert(
      fc.property(arbitraryDraft, draft => {
        const plan = planOf(draft)
        expect(planSchema.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan)
      }),
      { numRuns: 20 },
    )
  })
})
