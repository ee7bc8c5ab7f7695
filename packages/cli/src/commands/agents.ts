import type { ResultFrom } from '@parley/client'
import { parseCommand, UsageError } from '../usage.ts'
import { EXPORT_USAGE, exportAgent } from './agents-export.ts'
import { IMPORT_USAGE, importAgent, inspectFile } from './agents-import.ts'
import { diagnosticLines, table } from './agents-text.ts'
import { VALIDATE_USAGE, validate } from './agents-validate.ts'
import { onlyArgument, parseSubcommand, runCommand, type SubcommandGroup, type Work } from './api-command.ts'

const USAGE = {
  list: 'parley agents list [--search TEXT] [--channel phone|cloud] [--json]',
  publish: 'parley agents publish AGENT [--test] [--json]',
} as const

const json = { type: 'boolean', default: false } as const

const GROUP: SubcommandGroup = {
  name: 'parley agents',
  verbs: { list, inspect: inspectFile, import: importAgent, validate, publish, export: exportAgent },
  usages: [...Object.values(USAGE), ...Object.values(IMPORT_USAGE), VALIDATE_USAGE, EXPORT_USAGE],
}

/** Exit code 0: done; 1: the API refused the request, or the draft has errors. */
export async function agents(args: string[]): Promise<number> {
  return runCommand(agentsWork(args))
}

export function agentsWork(args: string[]): Work {
  return parseSubcommand(GROUP, args)
}

function list(args: string[]): Work {
  const options = { search: { type: 'string' }, channel: { type: 'string' }, json } as const
  const { values, positionals } = parseCommand(args, options, USAGE.list)
  if (positionals.length > 0) throw new UsageError(`usage: ${USAGE.list}`)
  const channel = channelOf(values.channel)
  return async ({ client, print }) => {
    const query = {
      limit: 200,
      sort: 'name_asc',
      q: values.search,
      channel,
    } as const
    const found: ResultFrom<'agents.list'>['agents'] = []
    for await (const agent of client.agents.list.all({ query })) found.push(agent)
    if (values.json) print(`${JSON.stringify({ agents: found }, null, 2)}\n`)
    else if (found.length === 0) print('No agents.\n')
    else
      print(
        table(
          ['AGENT', 'NAME', 'LIVE', 'CHANNELS', 'DRAFT', 'UPDATED'],
          found.map(({ ref, name, head, draft, updated_at }) => [
            ref.id,
            name,
            head === null ? '-' : `version ${head.version}`,
            head?.channels.join(', ') ?? '-',
            draft === null
              ? '-'
              : draft.revision === draft.published_revision
                ? 'published'
                : `revision ${draft.revision}`,
            updated_at,
          ]),
        ),
      )
    return 0
  }
}

function channelOf(text: string | undefined): 'phone' | 'cloud' | undefined {
  if (text === undefined || text === 'phone' || text === 'cloud') return text
  throw new UsageError(`--channel takes phone or cloud, not ${JSON.stringify(text)}`)
}

function publish(args: string[]): Work {
  const options = { json, test: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseCommand(args, options, USAGE.publish)
  const agent_id = onlyArgument(positionals, USAGE.publish)
  return async ({ client, print, remark }) => {
    const { draft } = await client.agents.get({ params: { agent_id } })
    if (draft === null) throw new Error(`the agent "${agent_id}" has no open draft, so there is nothing to publish`)
    const published = await client.publications.publish({
      params: { agent_id },
      body: { draft_id: draft.draft_id, expected_revision: draft.revision, test: values.test },
    })
    const { ref, is_head } = published.publication
    if (values.json) print(`${JSON.stringify(published, null, 2)}\n`)
    else {
      remark(diagnosticLines(published.warnings))
      print(`${agent_id} version ${ref.version}${is_head ? ' is live' : values.test ? ' (for tests)' : ''}\n`)
    }
    return 0
  }
}
