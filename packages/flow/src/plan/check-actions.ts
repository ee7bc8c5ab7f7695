import { type Action, actionKindOf, type HttpAction, isHttpAction, nodeTypeOf, type PartFix } from '@parley/nodes'
import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import { clearInAction, type Fix, freshName, putAction, removeAction } from './fixes.ts'
import { scopesOf } from './scope.ts'

/** Maximum length of a name that a numeric suffix is added to; names have at most 64 characters. */
const MAX_STEM = 56
/** Maximum timeout of the inbound context action, during which the caller waits. */
const MAX_INBOUND_MS = 10_000

/** Checks actions: duplicate ids, unsupported kinds, and the inbound context action that runs before a call is answered. */
export function checkActions(draft: DraftContent, findings: Findings): void {
  const { actions } = draft
  const last = new Map(actions.map((action, index) => [action.action_id, index]))
  const ids = new Set<string>()
  const names = new Set<string>()
  for (const [index, action] of actions.entries()) {
    const path = ['actions', index]
    if (ids.has(action.action_id))
      findings.error(
        'duplicate_id',
        [...path, 'action_id'],
        `Another action has the id "${action.action_id}": give one of the two another id`,
        // An edit that removes a duplicate id removes the last action with it.
        last.get(action.action_id) === index
          ? { label: 'Remove this one', edits: [{ type: 'action.remove', action_id: action.action_id }] }
          : undefined,
      )
    if (names.has(action.name))
      findings.error(
        'action_invalid',
        [...path, 'name'],
        `Another action has the name "${action.name}": give one of the two another name`,
        renamed(draft, action),
      )
    ids.add(action.action_id)
    names.add(action.name)
    const kind = actionKindOf(action)
    for (const found of kind.check?.(action) ?? [])
      findings[found.severity](
        found.code,
        [...path, ...found.path],
        found.message,
        ...found.fixes.map(fix => actionFix(actions, action, fix)),
      )
  }
  checkInboundContext(draft, findings)
}

function renamed({ actions }: DraftContent, action: Action): Fix | undefined {
  const name = freshName(action.name.slice(0, MAX_STEM), new Set(actions.map(other => other.name)), '_')
  return putAction(actions, { ...action, name }, `Rename it to "${name}"`)
}

function checkInboundContext(draft: DraftContent, findings: Findings): void {
  const binding = draft.inbound_context
  if (binding === null) return
  const action = draft.actions.find(action => action.action_id === binding.action_id)
  const path = ['inbound_context', 'action_id']
  const unbind: Fix = { label: 'Remove the binding', edits: [{ type: 'phone.inbound_context', value: null }] }
  if (action === undefined) {
    findings.error(
      'action_unknown',
      path,
      `The inbound context runs the action "${binding.action_id}", which the agent does not have: define it, or set another action_id`,
      unbind,
    )
    return
  }
  const isFree = !isUsed(draft, binding.action_id)
  if (!isHttpAction(action) || !canRunBeforeCalls(action))
    findings.error(
      'inbound_action_invalid',
      path,
      'The action of the inbound context must be of kind http with method POST, channels [phone], idempotency effect_key and a timeout_ms of at most 10000',
      isHttpAction(action) && isFree ? madeInboundAction(draft, action) : undefined,
      unbind,
    )
  else if (!isFree)
    findings.error(
      'inbound_action_invalid',
      path,
      'The action of the inbound context must not be used by a node: give the node an action of its own',
      unbind,
    )
}

function canRunBeforeCalls(action: HttpAction): boolean {
  return (
    action.method === 'POST' &&
    action.channels.join() === 'phone' &&
    action.idempotency === 'effect_key' &&
    action.timeout_ms <= MAX_INBOUND_MS
  )
}

function madeInboundAction({ actions }: DraftContent, action: HttpAction): Fix | undefined {
  const timeout_ms = Math.min(action.timeout_ms, MAX_INBOUND_MS)
  const changed: HttpAction = { ...action, method: 'POST', channels: ['phone'], idempotency: 'effect_key', timeout_ms }
  return putAction(actions, changed, `Change "${action.name}" into such an action`)
}

function isUsed(draft: DraftContent, actionId: string): boolean {
  return scopesOf(draft).some(scope =>
    scope.nodes.some(node => nodeTypeOf(node).actionIds?.(node).includes(actionId) ?? false),
  )
}

function actionFix(actions: readonly Action[], action: Action, fix: PartFix<Action>): Fix | undefined {
  switch (fix.fix) {
    case 'put':
      return putAction(actions, fix.part, fix.label)
    case 'clear':
      return clearInAction(actions, action, fix.path, fix.label)
    case 'remove':
      return removeAction(actions, action)
    default:
      // Only nodes have edges.
      return undefined
  }
}
