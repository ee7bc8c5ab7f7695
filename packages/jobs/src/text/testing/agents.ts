import { compile, type Draft, type Plan } from '@parley/flow'

export type DraftNode = NonNullable<NonNullable<Draft['flow']>['nodes']>[number]

/** A plan for text of these nodes, which begins with the first. */
export function planOf(
  nodes: DraftNode[],
  rest: {
    readonly flow?: Partial<NonNullable<Draft['flow']>>
    readonly settings?: Draft['settings']
    readonly actions?: NonNullable<Draft['actions']>
  } = {},
): Plan {
  const compiled = compile({
    name: 'Test',
    settings: { channels: ['cloud'], ...rest.settings },
    providers: {
      stt: { provider: 'simulated', model: 'tones-1' },
      llm: {
        provider: 'simulated_hosted',
        model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
      },
      tts: { provider: 'simulated', model: 'tones-1' },
    },
    actions: rest.actions ?? [],
    flow: { start_node_id: nodes[0]?.id ?? null, nodes, ...rest.flow },
  } satisfies Draft)
  if (compiled.ok) return compiled.plan
  throw new Error(compiled.diagnostics.map(({ path, message }) => `${path}: ${message}`).join('\n'))
}

/** An edge that the model takes by its condition. */
function when(condition: string, to: string) {
  return {
    id: condition.replaceAll(' ', '-'),
    transition_condition: { type: 'prompt' as const, prompt: condition },
    destination_node_id: to,
  }
}

export const END: DraftNode = { id: 'end', type: 'end' }

/** Greets, answers, and ends when the user says goodbye. */
export const CHATTER: DraftNode[] = [
  {
    id: 'talk',
    type: 'conversation',
    instruction: { type: 'static_text', text: 'Hello {{name}}.' },
    edges: [when('the user says goodbye', 'end')],
  },
  END,
]

/** Writes once, and is done. */
export const WRITER: DraftNode[] = [
  { id: 'write', type: 'conversation', instruction: { type: 'prompt', text: 'Write a summary.' } },
]
