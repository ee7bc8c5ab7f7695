import { describe, expect, it } from 'vitest'
import type { ImportBody } from './check-export.ts'
import { exportDraft } from './export-draft.ts'
import { changed, exportFile, imported, importOf, secrets } from './fixtures/exports.ts'
import { importExport } from './import-export.ts'
import { inspectExport } from './inspect-export.ts'
import type { JsonObject } from './json.ts'

type Path = readonly (string | number)[]
interface Export {
  readonly agent: JsonObject
  readonly flow: JsonObject
}

/** Members that identify the export at its source, or repeat another member: they have no effect anywhere. */
const IDENTITY =
  /^\/(agent\/(agent_id|channel|is_published|last_modification_timestamp|version|response_engine\/\w+)|flow\/(version|conversation_flow_id|is_transfer_llm|is_transfer_cf))$/
/** Links stay signed, which `true` asks for: nothing is left to do. */
const DEFAULT_ANYWAY = new Set(['/agent/opt_in_signed_url'])
/** What a kind of tool or an edge is called, and conditions that a special edge always has: another value is another thing. */
const NAMES_A_KIND = /\/(type|transition_condition(\/prompt)?|condition|parameter_type)$/

/** The full fixture with members that public exports have and it does not. */
function rich(): Export {
  const file = exportFile('full-export') as {
    agent: JsonObject
    flow: JsonObject & { nodes: JsonObject[]; tools: JsonObject[] }
  }
  file.agent.pii_config = { mode: 'post_call', categories: ['person_name', 'ssn'] }
  file.agent.language = 'en-US'
  const [first] = file.flow.nodes
  Object.assign(first!, {
    tool_ids: ['tool-slots'],
    finetune_conversation_examples: [{ id: 'x', transcript: [{ role: 'user', content: 'hi' }] }],
  })
  Object.assign(file.flow.tools[0]!, { enable_typing_sound: true })
  return file
}

const EXPORTS: readonly (readonly [string, () => Export])[] = [
  ['the minimal export', () => exportFile('minimal-export')],
  ['the full export', () => exportFile('full-export')],
  ['an export with everything that public ones have', rich],
]

function* leavesOf(value: unknown, path: Path): Generator<Path> {
  if (typeof value !== 'object' || value === null) yield path
  else
    for (const [name, member] of Object.entries(value))
      yield* leavesOf(member, [...path, Array.isArray(value) ? Number(name) : name])
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((owner, part) => (owner as Record<string | number, unknown>)[part], value)
}

/** Another value of the same type. */
function other(value: unknown): string | number | boolean {
  if (typeof value === 'number') return value < 1 ? value / 2 + 0.1 : value + 1
  return typeof value === 'boolean' ? !value : `${String(value)}x`
}

/** The draft of the edited export, imported with the bindings of the whole one. */
function draftOf(edited: Export, { model_bindings, config }: ImportBody): string | null {
  const { agent, flow } = edited
  const agentVersion = typeof agent.version === 'number' ? agent.version : importOf(edited).agent_version
  const result = importExport({ agent_version: agentVersion, agent, flow, config, model_bindings }, secrets)
  return result.ok ? JSON.stringify({ ...result.draft, source: null }) : null
}

it.each([EXPORTS[0]!, EXPORTS[2]!])(
  '%s has no member that is dropped in silence: another value makes another draft, or inspect names the member',
  { timeout: 600_000 },
  (_, file) => {
    const source = file()
    const body = importOf(source)
    const before = draftOf(source, body)
    const silent = [...leavesOf(source, [])].flatMap(path => {
      const pointer = `/${path.join('/')}`
      if (IDENTITY.test(pointer) || NAMES_A_KIND.test(pointer) || DEFAULT_ANYWAY.has(pointer)) return []
      const edited = changed(source, path, other(at(source, path)))
      if (draftOf(edited, body) !== before) return []
      const named = inspectExport(edited).diagnostics.map(found => found.path)
      const isNamed = (one: string) => one === pointer || pointer.startsWith(`${one}/`) || one.startsWith(`${pointer}/`)
      return named.some(isNamed) ? [] : [pointer]
    })
    expect(silent).toEqual([])
  },
)

describe.each(EXPORTS)('%s', (_, file) => {
  it('an exported agent is the same draft after import, export and another import', () => {
    const draft = imported(importExport(importOf(file()), secrets))
    const { warnings: _warnings, ...body } = exportDraft(draft, {
      version: importOf(file()).agent_version,
      includeWebhook: true,
    })
    expect(imported(importExport(body as ImportBody, secrets))).toEqual(draft)
  })
})

describe('inspect', () => {
  const warnings = () => new Map(inspectExport(rich()).diagnostics.map(({ path, message }) => [path, message]))

  it.each([
    ['/agent/denoising_mode', 'has no effect yet'],
    ['/agent/data_storage_setting', 'no effect'],
    ['/agent/handbook_config', 'no effect'],
    ['/agent/pii_config', 'ssn'],
    ['/agent/webhook_events', 'transcript_updated'],
    ['/flow/knowledge_base_ids', 'Knowledge bases are not imported'],
    ['/flow/nodes/2/enable_typing_sound', 'the caller hears silence'],
    ['/flow/tools/0/enable_typing_sound', 'the caller hears silence'],
    ['/flow/tools/4/transfer_destination/extension', 'dials no extension'],
    ['/flow/tools/4/transfer_option/transfer_ring_duration_ms', 'rings as long'],
  ])('the inspection of an export names %s, which is not executed, and what happens instead', (path, what) => {
    expect(warnings().get(path)).toContain(what)
  })
})
