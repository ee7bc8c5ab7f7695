import type { RequestTo, ResultFrom } from '@parley/client'
import { parseCommand, UsageError } from '../usage.ts'
import { onlyArgument, parseSubcommand, runCommand, type SubcommandGroup, type Work } from './api-command.ts'
import { itemLine, ladderLines, runLines, runTable, transcriptLines } from './runs-text.ts'

const USAGE = {
  create:
    'parley runs create AGENT (--to NUMBER [--from NUMBER] | --mode chat|task|background) [--version N] [--var NAME=VALUE]… [--follow] [--json]',
  get: 'parley runs get RUN [--json]',
  list: 'parley runs list [--agent AGENT] [--state STATE] [--channel phone|web|cloud] [--limit N] [--json]',
  cancel: 'parley runs cancel RUN [--json]',
  transcript: 'parley runs transcript RUN [--json]',
  ladder: 'parley runs ladder RUN [--full] [--json]',
  follow: 'parley runs follow RUN [--json]',
} as const

const STATES = ['admitted', 'running', 'ending', 'completed', 'failed', 'cancelled', 'rejected', 'expired'] as const
const MAX_LISTED = 1000

const json = { type: 'boolean', default: false } as const
const word = { type: 'string' } as const

const GROUP: SubcommandGroup = {
  name: 'parley runs',
  verbs: { create, get, list, cancel, transcript, ladder, follow },
  usages: Object.values(USAGE),
}

/** Exit code 0: done; 1: the API refused the request. */
export async function runs(args: string[]): Promise<number> {
  return runCommand(runsWork(args))
}

export function runsWork(args: string[]): Work {
  return parseSubcommand(GROUP, args)
}

function create(args: string[]): Work {
  const options = {
    to: word,
    from: word,
    mode: word,
    version: word,
    var: { type: 'string', multiple: true },
    follow: { type: 'boolean', default: false },
    json,
  } as const
  const { values, positionals } = parseCommand(args, options, USAGE.create)
  const body: RequestTo<'runs.create'>['body'] = {
    agent_id: onlyArgument(positionals, USAGE.create),
    ...channelOf(values),
    ...(values.version !== undefined && { version: wholeNumber('--version', values.version) }),
    ...(values.var !== undefined && { dynamic_variables: variables(values.var) }),
  }
  return async context => {
    const run = await context.client.runs.create({ body })
    context.print(values.json ? lineOf(run) : runLines(run))
    return values.follow ? followRun(run.run_id, values.json)(context) : 0
  }
}

interface ChannelOptions {
  readonly to?: string | undefined
  readonly from?: string | undefined
  readonly mode?: string | undefined
}

function channelOf({
  to,
  from,
  mode,
}: ChannelOptions): Pick<RequestTo<'runs.create'>['body'], 'channel' | 'mode' | 'to' | 'from'> {
  if (to !== undefined && mode === undefined)
    return { channel: 'phone', mode: 'outbound', to, ...(from !== undefined && { from }) }
  if (to === undefined && from === undefined && (mode === 'chat' || mode === 'task' || mode === 'background'))
    return { channel: 'cloud', mode }
  throw new UsageError(`give --to NUMBER for a call, or --mode chat, task or background\nusage: ${USAGE.create}`)
}

function variables(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map(text => {
      const equals = text.indexOf('=')
      if (equals < 1) throw new UsageError(`--var takes NAME=VALUE, not ${JSON.stringify(text.slice(0, 100))}`)
      return [text.slice(0, equals), text.slice(equals + 1)]
    }),
  )
}

function get(args: string[]): Work {
  return ofRun(
    args,
    USAGE.get,
    run_id =>
      async ({ client }) =>
        client.runs.get({ params: { run_id } }),
    runLines,
  )
}

function cancel(args: string[]): Work {
  return ofRun(
    args,
    USAGE.cancel,
    run_id =>
      async ({ client }) =>
        client.runs.cancel({ params: { run_id } }),
    runLines,
  )
}

function transcript(args: string[]): Work {
  const read = (run_id: string) => (context: Parameters<Work>[0]) =>
    context.client.runs.transcript({ params: { run_id } })
  return ofRun(args, USAGE.transcript, read, transcriptLines)
}

function ladder(args: string[]): Work {
  const options = { full: { type: 'boolean', default: false }, json } as const
  const { values, positionals } = parseCommand(args, options, USAGE.ladder)
  const run_id = onlyArgument(positionals, USAGE.ladder)
  return async ({ client, print }) => {
    const answer = await client.runs.ladder({ params: { run_id } })
    print(values.json ? `${JSON.stringify(answer, null, 2)}\n` : ladderLines(answer, values.full))
    return 0
  }
}

/** Parses the arguments of a command about one run, and prints its answer as text or JSON. */
function ofRun<Answer>(
  args: string[],
  usage: string,
  read: (runId: string) => (context: Parameters<Work>[0]) => Promise<Answer>,
  lines: (answer: Answer) => string,
): Work {
  const { values, positionals } = parseCommand(args, { json }, usage)
  const reading = read(onlyArgument(positionals, usage))
  return async context => {
    const answer = await reading(context)
    context.print(values.json ? `${JSON.stringify(answer, null, 2)}\n` : lines(answer))
    return 0
  }
}

function list(args: string[]): Work {
  const options = { agent: word, state: word, channel: word, limit: word, json } as const
  const { values, positionals } = parseCommand(args, options, USAGE.list)
  if (positionals.length > 0) throw new UsageError(`usage: ${USAGE.list}`)
  const limit = values.limit === undefined ? 50 : wholeNumber('--limit', values.limit)
  if (limit < 1 || limit > MAX_LISTED) throw new UsageError(`--limit takes a whole number, 1 to ${MAX_LISTED}`)
  const query = {
    limit: Math.min(limit, 200),
    agent_id: values.agent,
    state: oneOf('--state', values.state, STATES),
    channel: oneOf('--channel', values.channel, ['phone', 'web', 'cloud']),
  }
  return async ({ client, print }) => {
    const found: ResultFrom<'runs.list'>['items'] = []
    for await (const run of client.runs.list.all({ query })) if (found.push(run) === limit) break
    if (values.json) print(`${JSON.stringify({ runs: found }, null, 2)}\n`)
    else print(found.length === 0 ? 'No runs.\n' : runTable(found))
    return 0
  }
}

function follow(args: string[]): Work {
  const { values, positionals } = parseCommand(args, { json }, USAGE.follow)
  return followRun(onlyArgument(positionals, USAGE.follow), values.json)
}

/** Prints a line per timeline item until the run has ended. */
function followRun(run_id: string, asJson: boolean): Work {
  return async ({ client, print }) => {
    for await (const item of client.runs.events({ params: { run_id } })) print(asJson ? lineOf(item) : itemLine(item))
    return 0
  }
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

function wholeNumber(flag: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text))
    throw new UsageError(`${flag} takes a whole number, not ${JSON.stringify(text.slice(0, 100))}`)
  return Number(text)
}

function oneOf<Word extends string>(flag: string, text: string | undefined, words: readonly Word[]): Word | undefined {
  const found = words.find(known => known === text)
  if (text !== undefined && found === undefined)
    throw new UsageError(`${flag} takes one of ${words.join(', ')}, not ${JSON.stringify(text.slice(0, 100))}`)
  return found
}
