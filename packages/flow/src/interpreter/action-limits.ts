import type { FlowContext } from './flow-context.ts'
import type { ActionRefusal } from './protocol.ts'

/** Uses of one action with the same arguments between two turns of the caller. */
const MAX_SAME_USES = 2
/** Uses of actions between two turns of the caller, and in the whole conversation. */
const MAX_USES_IN_TURN = 12
const MAX_USES = 200
/** After this many refused uses between two turns of the caller the conversation ends. */
export const MAX_REFUSALS = 4

/** Counts a use of an action. Returns why it is refused; null: it is not. */
export function countUse(
  { state }: FlowContext,
  actionId: string,
  args: Readonly<Record<string, unknown>>,
): ActionRefusal | null {
  const use = `${actionId} ${JSON.stringify(args, Object.keys(args).sort())}`
  const same = (Object.hasOwn(state.usesInTurn, use) ? state.usesInTurn[use]! : 0) + 1
  const inTurn = Object.values(state.usesInTurn).reduce((sum, count) => sum + count, 0) + 1
  const refusal =
    state.uses >= MAX_USES
      ? 'too_many_in_call'
      : inTurn > MAX_USES_IN_TURN
        ? 'too_many_in_turn'
        : same > MAX_SAME_USES
          ? 'repeated'
          : null
  if (refusal !== null) {
    state.refusedInTurn++
    return refusal
  }
  state.usesInTurn[use] = same
  state.uses++
  return null
}
