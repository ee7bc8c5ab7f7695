import type { Action } from './action.ts'
import type { VariableItem } from './analysis-item.ts'
import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import { type Fix, putAction, putModelChoice, putNode } from './fixes.ts'
import type { FlowNode } from './node.ts'
import type { ModelRef } from './references.ts'
import { type Path, type Scope, scopesOf } from './scope.ts'
import { KNOWN_WORDS, type SettingValues } from './settings.ts'
import type { Transfer } from './transfer.ts'

const PLATFORM_KEY = "the platform's own key is used"
const SAME_TRAINING = 'the model gets the instruction alone'
const RING_TIME = 'the transferred call rings as long as the far end lets it'

interface UnreadSetting<Value> {
  /** Whether the value describes what happens anyway; any other value that is set gets the warning. */
  readonly isHarmless: (value: Value) => boolean
  /** What happens instead. */
  readonly instead: string
}

type UnreadSettings = { readonly [Name in keyof SettingValues]?: UnreadSetting<NonNullable<SettingValues[Name]>> }

/** Settings that no engine reads yet. Remove the entry of a setting in the change that makes an engine read it. */
const UNREAD_SETTINGS: UnreadSettings = {
  voiceModel: {
    isHarmless: () => false,
    instead: 'the voice speaks with the model in providers.tts',
  },
  voiceTemperature: {
    isHarmless: value => value === 1,
    instead: "the voice speaks with the service's own value",
  },
  normalizeForSpeech: {
    isHarmless: isOn => !isOn,
    instead: 'the voice gets the text as the model wrote it',
  },
  ambientSound: {
    isHarmless: word => word === 'none' || !isKnown('ambientSound', word),
    instead: 'the call has no background sound',
  },
  ambientSoundVolume: {
    isHarmless: value => value === 1,
    instead: 'the call has no background sound',
  },
  pronunciationDictionary: {
    isHarmless: words => words.length === 0,
    instead: 'the voice pronounces every word its own way',
  },
  denoisingMode: {
    isHarmless: word => word === 'no-denoise' || !isKnown('denoisingMode', word),
    instead: "the recogniser hears the caller's audio as it arrives",
  },
  sttMode: {
    isHarmless: word => word === 'fast' || !isKnown('sttMode', word),
    instead: 'the recogniser runs in its usual mode',
  },
  vocabSpecialization: {
    isHarmless: value => value === 'general',
    instead: 'the recogniser uses its general vocabulary',
  },
  toolCallStrictMode: {
    isHarmless: isOn => !isOn,
    instead: 'the model is not held to the JSON schema of its tools',
  },
  voicemail: { isHarmless: isOff, instead: 'a mailbox that answers is treated as a person' },
  ivr: { isHarmless: isOff, instead: 'a phone menu that answers is treated as a person' },
  callScreening: { isHarmless: isOff, instead: 'a call screener that answers is treated as a person' },
}

function isOff({ enabled }: { readonly enabled: boolean }): boolean {
  return !enabled
}

/** An unknown word has a warning of its own, `setting_unknown`. */
function isKnown(name: keyof typeof KNOWN_WORDS, word: string): boolean {
  return (KNOWN_WORDS[name] as readonly string[]).includes(word)
}

/** Fields that a draft sets and that no engine reads yet: a warning for each, with what happens instead. */
export function checkNotExecuted(draft: DraftContent, findings: Findings): void {
  checkUnreadSettings(draft.settings, findings)
  checkUnreadProviders(draft, findings)
  for (const scope of scopesOf(draft))
    for (const [index, node] of scope.nodes.entries())
      checkUnreadInNode(node, scope, [...scope.path, 'nodes', index], findings)
  for (const [index, action] of draft.actions.entries())
    checkUnreadInAction(action, draft.actions, ['actions', index], findings)
}

/** Warns that nothing reads the field at `path`. */
function warn(findings: Findings, path: Path, instead: string, fix?: Fix): void {
  const name = String(path.at(-1))
  findings.warning('not_executed', path, `"${name}" has no effect yet: ${instead}`, fix)
}

function checkUnreadSettings(settings: SettingValues, findings: Findings): void {
  for (const [name, { isHarmless, instead }] of Object.entries(UNREAD_SETTINGS) as [
    keyof SettingValues,
    UnreadSetting<unknown>,
  ][]) {
    const value = settings[name]
    if (value === undefined || isHarmless(value)) continue
    const fix: Fix = {
      label: `Leave "${name}" out`,
      edits: [{ type: 'agent.settings', values: {}, clear: [name] }],
    }
    warn(findings, ['settings', name], instead, fix)
  }
}

function checkUnreadProviders({ providers, analysis }: DraftContent, findings: Findings): void {
  for (const role of ['stt', 'tts', 'llm'] as const)
    for (const [field, instead] of [
      ['credential', PLATFORM_KEY],
      ['endpoint', "the service's own address is used"],
    ] as const)
      if (providers[role][field] !== undefined)
        warn(findings, ['providers', role, field], instead, {
          label: `Leave "${field}" out`,
          edits: [{ type: 'agent.provider', role, changes: { [field]: null } }],
        })
  if (providers.stt.voiceId !== undefined)
    warn(findings, ['providers', 'stt', 'voiceId'], 'a recogniser has no voice', {
      label: 'Leave "voiceId" out',
      edits: [{ type: 'agent.provider', role: 'stt', changes: { voiceId: null } }],
    })
  if (analysis !== null && analysis.model?.credential !== undefined)
    warn(findings, ['analysis', 'model', 'credential'], PLATFORM_KEY, {
      label: 'Leave "credential" out',
      edits: [{ type: 'agent.analysis', value: { ...analysis, model: withoutCredential(analysis.model) } }],
    })
}

function withoutCredential({ model }: ModelRef): ModelRef {
  return { model }
}

function checkUnreadInNode(node: FlowNode, scope: Scope, path: Path, findings: Findings): void {
  const without = (fields: object, name: string) =>
    putNode(scope, { ...node, ...fields } as FlowNode, `Leave "${name}" out`)
  if (node.model_choice !== null && node.type === 'branch')
    warn(
      findings,
      [...path, 'model_choice'],
      'a branch decides by equations and asks no model',
      putModelChoice(scope, node, null, 'Leave "model_choice" out'),
    )
  else if (node.model_choice?.credential !== undefined)
    warn(
      findings,
      [...path, 'model_choice', 'credential'],
      PLATFORM_KEY,
      putModelChoice(scope, node, withoutCredential(node.model_choice), 'Leave "credential" out'),
    )
  const { global_node_setting: setting } = node
  if (setting !== null)
    for (const name of ['positive_finetune_examples', 'negative_finetune_examples'] as const)
      if ((setting[name] ?? []).length > 0)
        warn(
          findings,
          [...path, 'global_node_setting', name],
          'the model decides by the condition alone',
          without({ global_node_setting: { ...setting, [name]: undefined } }, name),
        )
  for (const [name, instead] of unreadMembers(node))
    warn(findings, [...path, name], instead, without({ [name]: undefined }, name))
  if (node.type === 'transfer_call' && hasRingTime(node))
    warn(
      findings,
      [...path, 'transfer_option', 'transfer_ring_duration_ms'],
      RING_TIME,
      without({ transfer_option: withoutRingTime(node) }, 'transfer_ring_duration_ms'),
    )
}

/** Members of the node itself that are set and that nothing reads, each with what happens instead. */
function unreadMembers(node: FlowNode): [name: string, instead: string][] {
  if (node.type === 'conversation' || node.type === 'subagent') {
    const unread: [name: keyof typeof node, instead: string][] = [
      ['knowledge_base_ids', 'the agent answers without documents'],
      ['finetune_conversation_examples', SAME_TRAINING],
      ['finetune_transition_examples', SAME_TRAINING],
    ]
    return unread.filter(([name]) => ((node[name] as readonly unknown[] | null | undefined) ?? []).length > 0)
  }
  if (node.type !== 'function') return []
  const unread: [name: string, instead: string][] = []
  if (node.tool_type === 'shared') unread.push(['tool_type', 'the action is looked up among those of this agent'])
  if (node.enable_typing_sound === true) unread.push(['enable_typing_sound', 'the caller hears silence'])
  return unread
}

function checkUnreadInAction(action: Action, actions: readonly Action[], path: Path, findings: Findings): void {
  if (action.kind === 'press_digit' && action.instruction !== null)
    warn(
      findings,
      [...path, 'instruction'],
      "the model chooses the digits by the action's description",
      putAction(actions, { ...action, instruction: null }, 'Leave "instruction" out'),
    )
  if (action.kind === 'http' && action.speak_during_execution)
    warn(
      findings,
      [...path, 'speak_during_execution'],
      'while the action runs the agent says only what the model wrote beside the tool call',
      putAction(actions, { ...action, speak_during_execution: false }, 'Leave "speak_during_execution" out'),
    )
  if (action.kind === 'transfer_call' && hasRingTime(action))
    warn(
      findings,
      [...path, 'transfer_option', 'transfer_ring_duration_ms'],
      RING_TIME,
      putAction(
        actions,
        { ...action, transfer_option: withoutRingTime(action) },
        'Leave "transfer_ring_duration_ms" out',
      ),
    )
  if (action.kind === 'extract_dynamic_variables')
    for (const [index, item] of action.variables.entries())
      if ((item.examples ?? []).length > 0)
        warn(
          findings,
          [...path, 'variables', index, 'examples'],
          'the model gets the name, type and description alone',
          putAction(
            actions,
            { ...action, variables: action.variables.with(index, { ...item, examples: undefined } as VariableItem) },
            'Leave "examples" out',
          ),
        )
}

function hasRingTime({ transfer_option: option }: Transfer): boolean {
  return option.type === 'cold_transfer' && option.transfer_ring_duration_ms !== undefined
}

function withoutRingTime({ transfer_option: option }: Transfer): Transfer['transfer_option'] {
  if (option.type !== 'cold_transfer') return option
  const { transfer_ring_duration_ms: _, ...rest } = option
  return rest as Transfer['transfer_option']
}
