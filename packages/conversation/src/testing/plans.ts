import { compile, type Draft, type Plan } from '@parley/flow'

export type DraftNode = NonNullable<NonNullable<Draft['flow']>['nodes']>[number]
export type DraftAction = NonNullable<Draft['actions']>[number]
type Conversation = Extract<DraftNode, { type: 'conversation' }>
type Branch = Extract<DraftNode, { type: 'branch' }>
type Condition = NonNullable<Branch['edges']>[number]['transition_condition']
type Operator = Extract<Condition, { type: 'equation' }>['equations'][number]['operator']

/** A plan of these nodes that starts at the first. */
export function planOf(
  nodes: DraftNode[],
  rest: {
    readonly flow?: Partial<NonNullable<Draft['flow']>>
    readonly settings?: Draft['settings']
    readonly actions?: DraftAction[]
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

/** An edge with a prompt condition, which the model decides. */
export function when(condition: string, to: string, id = condition) {
  return { id, transition_condition: { type: 'prompt' as const, prompt: condition }, destination_node_id: to }
}

/** An edge with one equation, such as `age >= 18`. */
export function if_(equation: string, to: string, id = equation) {
  const [left, operator, ...right] = equation.split(' ')
  const equations = [
    { left: left!, operator: operator as Operator, ...(right.length > 0 && { right: right.join(' ') }) },
  ]
  return { id, transition_condition: { type: 'equation' as const, equations }, destination_node_id: to }
}

export const staticText = (text: string) => ({ type: 'static_text' as const, text })
export const promptText = (text: string) => ({ type: 'prompt' as const, text })

/** A conversation node with a static text. */
export function says(id: string, text: string, rest: Partial<Conversation> = {}): Conversation {
  return { id, type: 'conversation', instruction: staticText(text), ...rest }
}

/** A conversation node with a prompt. */
export function asks(id: string, prompt: string, rest: Partial<Conversation> = {}): Conversation {
  return { id, type: 'conversation', instruction: promptText(prompt), ...rest }
}

export const ends = (id = 'end') => ({ id, type: 'end' as const })

/** An HTTP action that accepts any arguments. */
export function httpAction(name: string, rest: Partial<Extract<DraftAction, { kind: 'http' }>> = {}): DraftAction {
  return {
    action_id: name,
    kind: 'http',
    name,
    description: `Use ${name}`,
    method: 'POST',
    url: `https://example.test/${name}`,
    ...rest,
  }
}
