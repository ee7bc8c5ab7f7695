import { type Action, actionKindOf, type HttpAction, isHttpAction, nodeTypeOf, type PartFix } from '@parley/nodes'
import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import { clearInAction, type Fix, freshName, putAction, removeAction } from './fixes.ts'
import { scopesOf } from './scope.ts'

/** Maximum length of a name that still leaves room for a numeric suffix. */
const NAME_ROOM = 56
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
        `Another action is "${action.action_id}"`,
        // An edit that removes a duplicate id removes the last action with it.
        last.get(action.action_id) === index
          ? { label: 'Remove this one', edits: [{ type: 'action.remove', action_id: action.action_id }] }
          : undefined,
      )
    if (names.has(action.name))
      findings.error(
        'action_invalid',
        [...path, 'name'],
        `Another action is called "${action.name}"`,
        renamed(draft, action),
      )
    ids.add(action.action_id)
    names.add(action.name)
    const kind = actionKindOf(action)
    if (!kind.isRunnable)
      findings.error(
        'unsupported_capability',
        [...path, 'kind'],
        `Actions of kind "${action.kind}" do not run here yet: remove "${action.action_id}"`,
        removeAction(actions, action),
      )
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
  const name = freshName(action.name.slice(0, NAME_ROOM), new Set(actions.map(other => other.name)), '_')
  return putAction(actions, { ...action, name }, `Call it "${name}"`)
}

function checkInboundContext(draft: DraftContent, findings: Findings): void {
  const binding = draft.inbound_context
  if (binding === null) return
  const action = draft.actions.find(action => action.action_id === binding.action_id)
  const path = ['inbound_context', 'action_id']
  const unbind: Fix = { label: 'Remove the binding', edits: [{ type: 'phone.inbound_context', value: null }] }
  if (action === undefined) {
    findings.error('action_unknown', path, `There is no action "${binding.action_id}"`, unbind)
    return
  }
  const isFree = !isUsed(draft, binding.action_id)
  if (!isHttpAction(action) || !isAskedBeforeCalls(action))
    findings.error(
      'inbound_action_invalid',
      path,
      'The action of the inbound context is of kind http, POST, for the channel phone only, with idempotency effect_key and a timeout_ms of at most 10000',
      isHttpAction(action) && isFree ? madeAskable(draft, action) : undefined,
      unbind,
    )
  else if (!isFree)
    findings.error(
      'inbound_action_invalid',
      path,
      'The action of the inbound context is used nowhere else in the flow',
      unbind,
    )
}

function isAskedBeforeCalls(action: HttpAction): boolean {
  return (
    action.method === 'POST' &&
    action.channels.join() === 'phone' &&
    action.idempotency === 'effect_key' &&
    action.timeout_ms <= MAX_INBOUND_MS
  )
}

function madeAskable({ actions }: DraftContent, action: HttpAction): Fix | undefined {
  const timeout_ms = Math.min(action.timeout_ms, MAX_INBOUND_MS)
  const asked: HttpAction = { ...action, method: 'POST', channels: ['phone'], idempotency: 'effect_key', timeout_ms }
  return putAction(actions, asked, `Make "${action.name}" such an action`)
}

function isUsed(draft: DraftContent, actionId: string): boolean {
  return scopesOf(draft).some(scope =>
    scope.nodes.some(node => nodeTypeOf(node).actionIds?.(node).includes(actionId) ?? false),
  )
}

function actionFix(actions: readonly Action[], action: Action, wanted: PartFix<Action>): Fix | undefined {
  switch (wanted.fix) {
    case 'put':
      return putAction(actions, wanted.part, wanted.label)
    case 'clear':
      return clearInAction(actions, action, wanted.path, wanted.label)
    case 'remove':
      return removeAction(actions, action)
    default:
      // Only nodes have edges.
      return undefined
  }
}
