import type { CallFacts } from '@parley/conversation'
import { compile, type Draft, type Plan } from '@parley/flow'

type Nodes = NonNullable<NonNullable<Draft['flow']>['nodes']>

const providers = {
  stt: { provider: 'simulated', model: 'tones-1' },
  llm: { provider: 'simulated_hosted', model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' } },
  tts: { provider: 'simulated', model: 'tones-1' },
} as const satisfies Draft['providers']

/** A draft of these nodes; the first is the start. */
export function draftOf(nodes: Nodes, rest: Partial<Draft> = {}): Draft {
  return { name: 'Test', providers, flow: { start_node_id: nodes[0]!.id, nodes }, ...rest }
}

export const GREETING =
  'Welcome to the house of many words, where every sentence is long enough to be interrupted by anybody.'

/** Greets at length, and answers. */
export const greeter = draftOf([
  { id: 'hello', type: 'conversation', instruction: { type: 'static_text', text: GREETING } },
  { id: 'end', type: 'end' },
])

/** Says its last words at once. */
export function farewell(text: string): Draft {
  return draftOf([{ id: 'bye', type: 'end', speak_during_execution: true, instruction: { type: 'static_text', text } }])
}

/** The compiled plan of a draft without errors. */
export function planOf(draft: Draft): Plan {
  const compiled = compile(draft)
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(found => `${found.path}: ${found.message}`).join('\n'))
  return compiled.plan
}

/** What an agent knows of a phone call that is no run. */
export const NO_RUN: CallFacts = {
  run_id: null,
  agent_id: null,
  agent_version: null,
  channel: 'phone',
  from_number: null,
  to_number: null,
}
