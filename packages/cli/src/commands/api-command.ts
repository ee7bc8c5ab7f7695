import type { ParleyClient } from '@parley/client'
import { readClientSettings } from '../environment.ts'
import { groupUsage, UsageError } from '../usage.ts'
import { withReadableMessage } from './agents-text.ts'
import { clientOf } from './api-client.ts'

/** Dependencies of a command that uses the API. */
interface ApiCommandContext {
  readonly client: ParleyClient
  /** To standard output. */
  readonly print: (text: string) => void
  /** Writes to standard error: notices beside the result. */
  readonly remark: (text: string) => void
}

/** A command with parsed arguments; resolves with the exit code. */
export type Work = (context: ApiCommandContext) => Promise<number>

/** Parses the arguments after its name. Throws `UsageError` and `HelpRequested`. */
type Subcommand = (args: string[]) => Work

export interface SubcommandGroup {
  /** As it is typed: `parley runs`. */
  readonly name: string
  readonly verbs: Readonly<Record<string, Subcommand>>
  readonly usages: readonly string[]
}

/** The subcommand that `args` name, with its arguments parsed. Its errors have readable messages. */
export function parseSubcommand({ name, verbs, usages }: SubcommandGroup, args: string[]): Work {
  const [word = '', ...rest] = args
  const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined
  if (verb === undefined) throw groupUsage(name, args, usages)
  const work = verb(rest)
  return async context => {
    try {
      return await work(context)
    } catch (error) {
      throw withReadableMessage(error)
    }
  }
}

/** Runs the command with the API and the terminal of this process. Resolves with the exit code. */
export async function runCommand(work: Work): Promise<number> {
  const client = await clientOf(readClientSettings(process.env))
  return work({
    client,
    print: text => void process.stdout.write(text),
    remark: text => void process.stderr.write(text),
  })
}

/** The one positional argument of a command. */
export function onlyArgument(positionals: readonly string[], usage: string): string {
  const [argument] = positionals
  if (argument === undefined || argument === '' || positionals.length !== 1) throw new UsageError(`usage: ${usage}`)
  return argument
}
