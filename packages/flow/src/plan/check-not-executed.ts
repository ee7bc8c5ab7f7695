import { KNOWN_WORDS } from '@parley/contract'
import type { FlowNode, ModelRef } from '@parley/nodes'
import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import { type Fix, putModelChoice } from './fixes.ts'
import { type Path, type Scope, scopesOf } from './scope.ts'
import type { SettingValues } from './settings.ts'

const PLATFORM_KEY = "the platform's own key is used"

interface UnreadSetting<Value> {
  /** Whether the value describes what happens in any case; any other explicit value gets the warning. */
  readonly isHarmless: (value: Value) => boolean
  /** What happens instead. */
  readonly instead: string
}

type UnreadSettings = { readonly [Name in keyof SettingValues]?: UnreadSetting<NonNullable<SettingValues[Name]>> }

/** Settings that no engine reads yet. The change that makes an engine read a setting removes its entry. */
const UNREAD_SETTINGS: UnreadSettings = {
  denoisingMode: {
    isHarmless: word => word === 'no-denoise' || !isKnown('denoisingMode', word),
    instead: "the recogniser gets the caller's audio unfiltered, because a noise filter made it understand fewer words",
  },
}

/** An unknown word has a warning of its own, `setting_unknown`. */
function isKnown(name: keyof typeof KNOWN_WORDS, word: string): boolean {
  return (KNOWN_WORDS[name] as readonly string[]).includes(word)
}

/** Warns of each field that a draft sets and that no engine reads yet, and says what happens instead. */
export function checkNotExecuted(draft: DraftContent, findings: Findings): void {
  checkUnreadSettings(draft.settings, findings)
  checkUnreadProviders(draft, findings)
  checkCallMemory(draft, findings)
  for (const scope of scopesOf(draft))
    for (const [index, node] of scope.nodes.entries())
      checkUnreadInNode(node, scope, [...scope.path, 'nodes', index], findings)
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

/** What is remembered of a call comes from its analysis. */
function checkCallMemory({ settings, analysis }: DraftContent, findings: Findings): void {
  if (settings.callMemory?.enabled !== true || (analysis?.items.length ?? 0) > 0) return
  const items = [{ type: 'system-presets' as const, name: 'call_summary' as const }]
  warn(findings, ['settings', 'callMemory'], 'calls are not analysed, so nothing of them is remembered', {
    label: 'Summarise every call',
    edits: [{ type: 'agent.analysis', value: { items, model: analysis?.model ?? null } }],
  })
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
  if (node.model_choice?.credential !== undefined)
    warn(
      findings,
      [...path, 'model_choice', 'credential'],
      PLATFORM_KEY,
      putModelChoice(scope, node, withoutCredential(node.model_choice), 'Leave "credential" out'),
    )
}
