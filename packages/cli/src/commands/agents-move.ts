import { createReadStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ParleyApiError, type ParleyClient, type RequestTo } from '@parley/client'
import type { ModelIdentity } from '@parley/contract'
import { randomToken, systemRandom } from '@parley/kernel'
import { parseCommand, UsageError } from '../usage.ts'
import { diagnosticLines, printable } from './agents-text.ts'
import { onlyArgument, type Work } from './api-command.ts'

export const MOVE_USAGE = {
  import:
    'parley agents import FILE [--as AGENT] [--replace] [--bind PATH=MODEL]… [--json]   (FILE may be - for standard input)',
  export: 'parley agents export AGENT [--version N | --draft] [--out FILE]',
} as const

/** Size limit of the API, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024
const MEMBERS = ['agent_version', 'agent', 'flow', 'config', 'model_bindings'] as const

type ImportBody = RequestTo<'agents.import'>['body']
type Bindings = ImportBody['model_bindings']

const IMPORT_OPTIONS = {
  as: { type: 'string' },
  replace: { type: 'boolean', default: false },
  bind: { type: 'string', multiple: true, default: [] as string[] },
  json: { type: 'boolean', default: false },
} as const

/** Imports an agent as a draft, which is neither validated nor published. */
export function importAgent(args: string[]): Work {
  const { values, positionals } = parseCommand(args, IMPORT_OPTIONS, MOVE_USAGE.import)
  const [file] = positionals
  if (file === undefined || positionals.length !== 1) throw new UsageError(`usage: ${MOVE_USAGE.import}`)
  const bindings = values.bind.map(readBinding)
  return async ({ client, print, remark }) => {
    const { reference, ...exported } = await readExport(file)
    const id = values.as ?? reference
    if (id === null)
      throw new UsageError(
        `${file} names no agent: give --as AGENT, the id of a new agent or of one whose draft it replaces`,
      )
    const { items, selected } = await client.environments.list()
    const tenant_id = items.find(({ environment }) => environment === selected)!.tenant_id
    const model_bindings = { ...exported.model_bindings, ...(await boundModels(client, bindings)) }
    const replaced = values.replace ? await draftOf(client, id) : null
    const imported = await client.agents.import({
      body: {
        ...exported,
        model_bindings,
        reference: { tenant_id, kind: 'agent', id },
        ...(replaced !== null && { replace_draft: replaced }),
      },
    })
    if (values.json) print(`${JSON.stringify(imported, null, 2)}\n`)
    else {
      remark(diagnosticLines(imported.warnings))
      const { agent, revision } = imported.draft
      print(`${OUTCOMES[imported.outcome]} ${agent.id}, revision ${revision}\n`)
    }
    return 0
  }
}

const OUTCOMES = {
  create_agent: 'created agent',
  open_draft: 'opened a draft of',
  replace_draft: 'replaced the draft of',
  unchanged: 'no changes for',
} as const

/** Exit code 0 if the export was written completely, to the file or to standard output. */
export function exportAgent(args: string[]): Work {
  const options = {
    version: { type: 'string' },
    draft: { type: 'boolean', default: false },
    out: { type: 'string' },
    json: { type: 'boolean', default: false },
  } as const
  const { values, positionals } = parseCommand(args, options, MOVE_USAGE.export)
  const agent_id = onlyArgument(positionals, MOVE_USAGE.export)
  const { version, draft, out } = values
  if (version !== undefined && !/^(0|[1-9][0-9]{0,8})$/.test(version))
    throw new UsageError(`--version takes the number of a version, not ${JSON.stringify(version)}`)
  if (version !== undefined && draft) throw new UsageError('--version and --draft: give one of them')
  return async ({ client, print, remark }) => {
    const query = { ...(version !== undefined && { version: Number(version) }), ...(draft && { draft }) }
    const exported = await client.agents.export({ params: { agent_id }, query })
    remark(diagnosticLines(exported.warnings))
    const text = `${JSON.stringify(exported, null, 2)}\n`
    if (out === undefined) print(text)
    else
      await writeAtomically(out, text).catch(cause => {
        throw new Error(`--out: ${out} cannot be written (${(cause as NodeJS.ErrnoException).code})`, { cause })
      })
    return 0
  }
}

interface Exported extends Omit<ImportBody, 'reference' | 'replace_draft'> {
  /** The agent that the file names; null: none. */
  readonly reference: string | null
}

/** Reads a file that `parley agents export` wrote, or the body of an import. The API validates the members. */
async function readExport(file: string): Promise<Exported> {
  const value = parsed(file, await readText(file))
  const missing = MEMBERS.filter(name => !(name in value))
  if (missing.length > 0)
    throw new Error(
      `${file} has no ${missing.join(', ')}: an import needs ${MEMBERS.join(', ')}; "parley agents export" writes such files`,
    )
  const { agent_version, agent, flow, config, model_bindings } = value as unknown as ImportBody
  const reference: unknown = (value.reference as { id?: unknown } | undefined)?.id
  const id = typeof reference === 'string' ? reference : null
  return { agent_version, agent, flow, config, model_bindings, reference: id }
}

function parsed(file: string, text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is not JSON: ${printable(error instanceof Error ? error.message : String(error))}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${file} is not a JSON object`)
  return value as Readonly<Record<string, unknown>>
}

async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const stream = file === '-' ? process.stdin : createReadStream(file)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`${file} is longer than ${MAX_BYTES} bytes, the limit of the API`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface Binding {
  readonly path: string
  readonly model: string
}

function readBinding(text: string): Binding {
  const at = text.lastIndexOf('=')
  const [path, model] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || !path.startsWith('/') || model === '')
    throw new UsageError(
      `--bind takes PATH=MODEL, such as /flow/model_choice=gpt-4.1-mini, not ${JSON.stringify(text)}`,
    )
  return { path, model }
}

/** Models by their id in the catalogue. */
async function boundModels(client: ParleyClient, bindings: readonly Binding[]): Promise<Bindings> {
  if (bindings.length === 0) return {}
  const models: ModelIdentity[] = []
  for await (const { model, kind } of client.models.list.all({ query: { limit: 200 } }))
    if (kind === 'chat') models.push(model)
  return Object.fromEntries(
    bindings.map(({ path, model: wanted }) => {
      const model = models.find(({ model_id }) => model_id === wanted)
      if (model !== undefined) return [path, { model }]
      const known = models.map(({ model_id }) => printable(model_id)).join(', ')
      throw new Error(`--bind ${path}: there is no model ${JSON.stringify(wanted)}; known are ${known || 'none'}`)
    }),
  )
}

async function draftOf(client: ParleyClient, agent_id: string) {
  try {
    const { draft } = await client.agents.get({ params: { agent_id } })
    return draft === null ? null : { draft_id: draft.draft_id, expected_revision: draft.revision }
  } catch (error) {
    if (error instanceof ParleyApiError && error.code === 'not_found') return null
    throw error
  }
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${randomToken(systemRandom, 16)}.part`)
  const file = await open(temporary, 'wx')
  try {
    await file.writeFile(text).finally(() => file.close())
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
