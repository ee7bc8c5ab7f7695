import { readFileSync } from 'node:fs'
import type { Json } from '@parley/contract'
import type { ImportBody } from '../check-export.ts'
import { type DraftContent, type ImportResult, importExport } from '../import-export.ts'
import { inspectExport } from '../inspect-export.ts'
import type { JsonObject } from '../json.ts'

/** A made-up export, as its one file has it. */
export function exportFile(name: 'full-export' | 'minimal-export'): { agent: JsonObject; flow: JsonObject } {
  const text = readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8')
  const { conversationFlow: flow, ...agent } = JSON.parse(text) as JsonObject
  return { agent, flow: flow as JsonObject }
}

export const modelOf = (id: string) => ({
  model: { model_id: id, provider: 'maker', tier: 'frontier' as const },
})

export const providers = {
  stt: { provider: 'ears', model: 'ears-1' },
  llm: { ...modelOf('own-large'), provider: 'hosted' as const },
  tts: { provider: 'mouth', model: 'mouth-1', voiceId: 'mouth-ana' },
}

/** What an import of the export sends: every model bound, its webhook pinned. */
export function importOf({ agent, flow }: { agent: JsonObject; flow: JsonObject }): ImportBody {
  const { model_bindings: needed, agent_version: version } = inspectExport({ agent, flow })
  const url = agent.webhook_url
  return {
    agent_version: version ?? 0,
    agent,
    flow,
    config: {
      providers,
      recording: { required: true, channels: 'dual' },
      ...(typeof url === 'string' && { webhook: { url, secretRef: 'hook' } }),
    },
    model_bindings: Object.fromEntries(needed.map(({ path }) => [path, modelOf('own-large')])),
  }
}

export const secrets = { secretVersion: (id: string) => (id === 'hook' ? '4' : undefined) }

export function imported(result: ImportResult): DraftContent {
  if (!result.ok) throw new Error(JSON.stringify(result.refusal))
  return result.draft
}

export function importFile(name: 'full-export' | 'minimal-export'): Extract<ImportResult, { ok: true }> {
  const result = importExport(importOf(exportFile(name)), secrets)
  imported(result)
  return result as Extract<ImportResult, { ok: true }>
}

/** The value with one member changed, by its path. */
export function changed<Value>(value: Value, path: readonly (string | number)[], to: Json | undefined): Value {
  const copy = structuredClone(value)
  const last = path.at(-1)!
  let owner = copy as unknown as Record<string | number, unknown>
  for (const part of path.slice(0, -1)) owner = owner[part] as Record<string | number, unknown>
  if (to === undefined) delete owner[last]
  else owner[last] = to
  return copy
}
