import type { Action } from './action.ts'
import { withDefaults } from './defaults.ts'
import type { DraftContent } from './draft.ts'
import { type Findings, type Scope, scopesOf } from './findings.ts'
import type { FlowNode, FunctionNode } from './node.ts'
import { conditionalEdges } from './node-edges.ts'
import { KNOWN_WORDS } from './settings.ts'
import type { TransferDestination } from './transfer.ts'

type Path = readonly (string | number)[]

/** What the engine cannot run, what refers to nothing, and settings it does not know. */
export function checkCapabilities(draft: DraftContent, findings: Findings): void {
  const actions = new Map(draft.actions.map(action => [action.action_id, action]))
  checkActions(draft, findings)
  checkInboundContext(draft, actions, findings)
  for (const scope of scopesOf(draft))
    for (const [index, node] of scope.nodes.entries())
      checkNode(node, [...scope.path, 'nodes', index], scope, actions, findings)
  checkSettings(draft, findings)
}

function checkNode(
  node: FlowNode,
  path: Path,
  scope: Scope,
  actions: ReadonlyMap<string, Action>,
  findings: Findings,
): void {
  switch (node.type) {
    case 'code':
    case 'mcp':
    case 'agent_swap':
    case 'sms':
    case 'bridge_transfer':
    case 'cancel_transfer':
      findings.error(
        'unsupported_capability',
        [...path, 'type'],
        `Nodes of type "${node.type}" do not run here yet: replace or remove "${node.id}"`,
        {
          label: `Remove "${node.name || node.id}"`,
          edits: [{ type: 'flow.node.remove', component_id: scope.componentId, node_id: node.id }],
        },
      )
      return
    case 'branch':
      for (const [index, edge] of conditionalEdges(node).entries())
        if (edge.transition_condition.type !== 'equation')
          findings.error(
            'unsupported_capability',
            [...path, 'edges', index, 'transition_condition'],
            `The branch "${node.id}" decides by equations only: use an equation, or a conversation node`,
          )
      return
    case 'function':
      checkFunction(node, path, actions, findings)
      return
    case 'subagent':
      for (const [index, id] of node.tool_ids.entries())
        if (!actions.has(id))
          findings.error(
            'action_unknown',
            [...path, 'tool_ids', index],
            `There is no action "${id}": define or remove it`,
          )
      return
    case 'transfer_call':
      checkTransfer(node, path, findings)
      return
    case 'press_digit':
      if (node.instruction.type === 'static_text' && !isDigits(node.instruction.text))
        findings.error(
          'draft_malformed',
          [...path, 'instruction', 'text'],
          'Only 0-9, *, #, w (a pause of 500 ms) and variables can be pressed; for anything else use a prompt',
        )
      return
    case 'conversation':
    case 'component':
      if (node.type === 'component' && node.component_type === 'shared')
        findings.error(
          'unsupported_capability',
          [...path, 'component_type'],
          'Components shared between agents do not run here yet: copy it into this flow as a local one',
        )
      return
    default:
  }
}

/** Digits that can be pressed; what variables hold is known on the call only. */
function isDigits(text: string): boolean {
  const fixed = text.replace(/\{\{[^{}]*\}\}/g, '')
  return /^[0-9*#w]*$/.test(fixed) && text.length > 0
}

function checkFunction(node: FunctionNode, path: Path, actions: ReadonlyMap<string, Action>, findings: Findings): void {
  const action = actions.get(node.tool_id)
  if (action === undefined)
    findings.error(
      'action_unknown',
      [...path, 'tool_id'],
      `There is no action "${node.tool_id}": define it, or name another`,
    )
  else if (action.kind !== 'http')
    findings.error(
      'unsupported_capability',
      [...path, 'tool_id'],
      `A function node runs actions of kind http: for "${action.kind}" use the node type of that name`,
    )
}

interface Transfer {
  readonly transfer_destination: TransferDestination
  readonly transfer_option: {
    readonly type: string
    readonly cold_transfer_mode?: unknown
    readonly show_transferee_as_caller?: unknown
  }
}

function checkTransfer(
  { transfer_destination: to, transfer_option: option }: Transfer,
  path: Path,
  findings: Findings,
): void {
  const at = [...path, 'transfer_option']
  if (option.type !== 'cold_transfer')
    findings.error(
      'unsupported_capability',
      at,
      `Transfers of type "${option.type}" do not run here: use cold_transfer`,
    )
  else if (option.cold_transfer_mode !== 'sip_refer')
    findings.error('unsupported_capability', [...at, 'cold_transfer_mode'], 'Cold transfers run by sip_refer only')
  else if (option.show_transferee_as_caller === true)
    findings.warning(
      'field_ignored',
      [...at, 'show_transferee_as_caller'],
      'With sip_refer the carrier chooses the caller',
    )
  if (to.type === 'predefined' && to.extension !== undefined && to.extension !== null && to.extension !== '')
    findings.error(
      'unsupported_capability',
      [...path, 'transfer_destination', 'extension'],
      'After a REFER nobody is left to dial an extension: transfer to a number that reaches it',
    )
}

function checkActions({ actions }: DraftContent, findings: Findings): void {
  const ids = new Set<string>()
  const names = new Set<string>()
  for (const [index, action] of actions.entries()) {
    const path = ['actions', index]
    if (ids.has(action.action_id))
      findings.error('duplicate_id', [...path, 'action_id'], `Another action is "${action.action_id}"`)
    if (names.has(action.name))
      findings.error('action_invalid', [...path, 'name'], `Another action is called "${action.name}"`)
    ids.add(action.action_id)
    names.add(action.name)
    if (action.kind === 'agent_swap' || action.kind === 'send_sms')
      findings.error(
        'unsupported_capability',
        [...path, 'kind'],
        `Actions of kind "${action.kind}" do not run here yet`,
      )
    if (action.kind === 'transfer_call') checkTransfer(action, path, findings)
  }
}

function checkInboundContext(draft: DraftContent, actions: ReadonlyMap<string, Action>, findings: Findings): void {
  const binding = draft.inbound_context
  if (binding === null) return
  const action = actions.get(binding.action_id)
  const path = ['inbound_context', 'action_id']
  const unbind = { label: 'Remove the binding', edits: [{ type: 'phone.inbound_context' as const, value: null }] }
  if (action === undefined) findings.error('action_unknown', path, `There is no action "${binding.action_id}"`, unbind)
  else if (
    action.kind !== 'http' ||
    action.method !== 'POST' ||
    action.channels.join() !== 'phone' ||
    action.idempotency !== 'effect_key' ||
    action.timeout_ms > 10_000
  )
    findings.error(
      'inbound_action_invalid',
      path,
      'The action of the inbound context is of kind http, POST, for the channel phone only, with idempotency effect_key and a timeout_ms of at most 10000',
      unbind,
    )
  else if (isUsed(draft, binding.action_id))
    findings.error(
      'inbound_action_invalid',
      path,
      'The action of the inbound context is used nowhere else in the flow',
      unbind,
    )
}

function isUsed(draft: DraftContent, actionId: string): boolean {
  return scopesOf(draft).some(scope =>
    scope.nodes.some(
      node =>
        (node.type === 'function' && node.tool_id === actionId) ||
        (node.type === 'subagent' && node.tool_ids.includes(actionId)),
    ),
  )
}

function checkSettings({ settings: set, telephony }: DraftContent, findings: Findings): void {
  const settings = withDefaults(set)
  for (const name of ['ambientSound', 'denoisingMode', 'sttMode'] as const) {
    const known: readonly string[] = KNOWN_WORDS[name]
    const word = settings[name]
    if (!known.includes(word))
      findings.warning(
        'setting_unknown',
        ['settings', name],
        `"${word}" is not known, the default is used; known: ${known.join(', ')}`,
      )
  }
  const languages = typeof settings.language === 'string' ? [settings.language] : settings.language
  for (const language of languages)
    if (!/^(en|es|multi)(-|$)/i.test(language))
      findings.error(
        'language_unsupported',
        ['settings', 'language'],
        `"${language}" is not spoken here: use en, es or multi`,
      )
  if (settings.channels.includes('phone') && telephony === null)
    findings.warning(
      'telephony_missing',
      ['telephony'],
      'Without a trunk the agent places no calls: set agent.telephony',
    )
}
