import { type TestCase, testCase } from '@parley/contract'
import type { Plan } from '@parley/flow'
import { type DraftNode, planOf } from '../../../packages/jobs/src/text/testing/agents.ts'

const TURNS = 12
const QUESTIONS = ['When are you open?', 'Where can I park?'] as const

/** An agent that answers two questions as often as they are asked. */
export const INQUIRY_DESK: Plan = planOf([
  says('welcome', 'Hello, how can I help you?'),
  says('hours', 'We open at nine. What else?'),
  says('parking', 'Parking is free. What else?'),
])

/** A caller of twelve turns on a noisy line, who asks both questions in turns. */
export const INQUIRY: TestCase = testCase.parse({
  case_id: 'inquiry',
  name: 'Asks twelve questions',
  mode: 'audio',
  language: 'en',
  caller: { kind: 'script', steps: Array.from({ length: TURNS }, (_, turn) => ({ says: QUESTIONS[turn % 2] })) },
  voice: { voice_id: 'slt', background: { kind: 'street', snr_db: 15 } },
  max_turns: TURNS,
  assertions: [
    {
      type: 'path',
      id: 'path',
      node_ids: Array.from({ length: TURNS }, (_, turn) => (turn % 2 === 0 ? 'hours' : 'parking')),
    },
    { type: 'ended_by', id: 'caller', values: ['caller'] },
  ],
})

function says(id: string, text: string): DraftNode {
  const edge = (name: string, prompt: string, to: string) => ({
    id: name,
    transition_condition: { type: 'prompt' as const, prompt },
    destination_node_id: to,
  })
  return {
    id,
    type: 'conversation',
    instruction: { type: 'static_text', text },
    edges: [
      edge('hours', 'The caller asks when you are open', 'hours'),
      edge('parking', 'The caller asks where to park', 'parking'),
    ],
  }
}
