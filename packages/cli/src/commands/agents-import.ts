import { ParleyApiError, type ParleyClient, type RequestTo, type ResultFrom } from '@parley/client'
import { parseCommand, UsageError } from '../usage.ts'
import { counted, diagnosticLines, printable } from './agents-text.ts'
import type { Work } from './api-command.ts'
import { completeImport, type ImportChoices } from './import-completion.ts'
import { type ExportOnDisk, readExportOnDisk } from './import-file.ts'

const CHOICES = '[--model MODEL] [--bind PATH=MODEL]… [--webhook-secret SECRET] [--json]'

export const IMPORT_USAGE = {
  inspect: `parley agents inspect FILE ${CHOICES}`,
  import: `parley agents import FILE [--as AGENT] [--replace] ${CHOICES}`,
} as const

const HELP = [
  'FILE is a conversation-flow export of a voice-agent vendor, a bare conversation flow, or what "parley agents export" wrote; - is standard input.',
  'A file without providers and model bindings gets the first that are ready; --model chooses the model of all nodes, --bind that of one path.',
  'A webhook of the file is imported only with --webhook-secret, the id of the secret that signs it.',
]

const CHOICE_OPTIONS = {
  model: { type: 'string' },
  bind: { type: 'string', multiple: true, default: [] as string[] },
  'webhook-secret': { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const IMPORT_OPTIONS = {
  ...CHOICE_OPTIONS,
  as: { type: 'string' },
  replace: { type: 'boolean', default: false },
} as const

type Inspection = ResultFrom<'agents.import_inspect'>
type Imported = ResultFrom<'agents.import'>

/** Says what an import of the file would find, without importing it. Exit code 1: the import would be refused. */
export function inspectFile(args: string[]): Work {
  const { values, positionals } = parseCommand(args, CHOICE_OPTIONS, IMPORT_USAGE.inspect, HELP)
  const file = onlyFile(positionals, IMPORT_USAGE.inspect)
  const choices = choicesOf(values)
  return async ({ client, print, remark }) => {
    const { body, remarks } = await completeImport(client, await readExportOnDisk(file), choices)
    const found = await client.agents.importInspect({ body })
    const errors = found.diagnostics.filter(({ severity }) => severity === 'error').length
    if (values.json) print(`${JSON.stringify(found, null, 2)}\n`)
    else {
      remark(remarks.map(line => `${line}\n`).join(''))
      print(`${contentsOf(found)}\n${diagnosticLines(found.diagnostics)}${counts(found.diagnostics)}\n`)
    }
    return errors === 0 ? 0 : 1
  }
}

/** Imports an agent as a draft, which is neither validated nor published. */
export function importAgent(args: string[]): Work {
  const { values, positionals } = parseCommand(args, IMPORT_OPTIONS, IMPORT_USAGE.import, HELP)
  const file = onlyFile(positionals, IMPORT_USAGE.import)
  const choices = choicesOf(values)
  return async ({ client, print, remark }) => {
    const exported = await readExportOnDisk(file)
    const completed = await completeImport(client, exported, choices)
    const id = agentIdFor(values.as, exported, completed.body.agent.agent_name)
    const { items, selected } = await client.environments.list()
    const tenant_id = items.find(({ environment }) => environment === selected)!.tenant_id
    const replaced = values.replace ? await draftOf(client, id) : null
    const imported = await client.agents.import({
      body: {
        ...completed.body,
        reference: { tenant_id, kind: 'agent', id },
        ...(replaced !== null && { replace_draft: replaced }),
      },
    })
    if (values.json) print(`${JSON.stringify(imported, null, 2)}\n`)
    else {
      remark(completed.remarks.map(line => `${line}\n`).join(''))
      remark(diagnosticLines(imported.warnings))
      print(summaryOf(imported, completed.inspection))
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

function summaryOf({ outcome, draft, warnings }: Imported, inspection: Inspection | null): string {
  const { agent, revision } = draft
  const lines = [`${OUTCOMES[outcome]} ${agent.id}, revision ${revision}`]
  if (inspection !== null) lines.push(contentsOf(inspection))
  if (warnings.length > 0) lines.push(`${counts(warnings)} above: what differs from the source platform`)
  lines.push(`next: parley agents validate ${agent.id}, then parley agents publish ${agent.id}`)
  return lines.map(line => `${line}\n`).join('')
}

/** One line about the contents of an export: `23 nodes (12 conversation, 3 end, …), language en-US`. */
function contentsOf({ node_types, languages, agent_name }: Inspection): string {
  const types = Object.entries(node_types).sort(([, a], [, b]) => b - a)
  const total = types.reduce((sum, [, count]) => sum + count, 0)
  const nodes = types.length === 0 ? '' : ` (${types.map(([type, count]) => `${count} ${printable(type)}`).join(', ')})`
  const language = languages.length === 0 ? 'no language named' : `language ${languages.map(printable).join(', ')}`
  return `"${printable(agent_name)}": ${counted(total, 'node')}${nodes}, ${language}`
}

function counts(diagnostics: Inspection['diagnostics']): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const warnings = counted(diagnostics.length - errors, 'warning')
  return errors === 0 ? warnings : `${counted(errors, 'error')}, ${warnings}`
}

function onlyFile(positionals: readonly string[], usage: string): string {
  const [file] = positionals
  if (file === undefined || positionals.length !== 1) throw new UsageError(`usage: ${usage}`)
  return file
}

function choicesOf(values: {
  readonly model?: string | undefined
  readonly bind: readonly string[]
  readonly 'webhook-secret'?: string | undefined
}): ImportChoices {
  return {
    model: values.model ?? null,
    bindings: values.bind.map(readBinding),
    webhookSecret: values['webhook-secret'] ?? null,
  }
}

function readBinding(text: string): ImportChoices['bindings'][number] {
  const at = text.lastIndexOf('=')
  const [path, model] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || !path.startsWith('/') || model === '')
    throw new UsageError(
      `--bind takes PATH=MODEL, such as /flow/model_choice=gpt-4.1-mini, not ${JSON.stringify(text)}`,
    )
  return { path, model }
}

/** The id of `--as`, else the one in the file, else one made of the agent's name. */
function agentIdFor(as: string | undefined, { reference, name: file }: ExportOnDisk, agentName: unknown): string {
  const id = as ?? reference ?? slug(typeof agentName === 'string' ? agentName : '')
  if (id === '')
    throw new UsageError(
      `${file} names no agent: give --as AGENT, the id of a new agent or of one whose draft it replaces`,
    )
  return id
}

function slug(name: string): string {
  const words = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  return words
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_SLUG)
}

const MAX_SLUG = 64

async function draftOf(
  client: ParleyClient,
  agent_id: string,
): Promise<RequestTo<'agents.import'>['body']['replace_draft'] | null> {
  try {
    const { draft } = await client.agents.get({ params: { agent_id } })
    return draft === null ? null : { draft_id: draft.draft_id, expected_revision: draft.revision }
  } catch (error) {
    if (error instanceof ParleyApiError && error.code === 'not_found') return null
    throw error
  }
}
