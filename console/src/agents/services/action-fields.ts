import type { Draft } from '../flow-graph.ts'

export type Action = Draft['actions'][number]

/** Fields of a new action of each kind that it cannot be without. */
const KINDS = {
  http: { method: 'POST', url: 'https://example.com/' },
  transfer_call: { transfer_destination: { type: 'predefined', number: '+15550100' } },
  end_call: {},
  press_digit: {},
  extract_dynamic_variables: { variables: [{ type: 'string', name: 'name', description: 'Name of the caller' }] },
  send_sms: {},
  code: { code: 'return {}' },
  mcp: { mcp_id: 'SERVER' },
} as const

export type Kind = keyof typeof KINDS

export const ACTION_KINDS = Object.keys(KINDS) as readonly Kind[]

/** A new action of this kind, without the fields that have a default, whose id no other action of the agent has. */
export function newAction(kind: Kind, others: readonly Pick<Action, 'action_id'>[]): Action {
  let count = 1
  const isTaken = (id: string) => others.some(({ action_id }) => action_id === id)
  while (isTaken(`${kind}_${count}`)) count += 1
  return {
    kind,
    action_id: `${kind}_${count}`,
    name: `${kind}_${count}`,
    description: '',
    ...KINDS[kind],
  } as unknown as Action
}
