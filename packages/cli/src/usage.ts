import { type ParseArgsConfig, parseArgs } from 'node:util'

/** An invalid command line; the message shows the usage. */
export class UsageError extends Error {}

/** The user asked for help; the message is the usage. It is printed, and the exit code is 0. */
export class HelpAsked extends Error {}

const isHelp = (arg: string | undefined) => arg === '--help' || arg === '-h'

/**
 * What to throw when `args` name none of a group's commands, each of which has one of `usages`: help with those of the
 * part that is named (`parley admin env --help`), else the error that tells all of them.
 */
export function groupUsage(group: string, args: readonly string[], usages: readonly string[]): HelpAsked | UsageError {
  const asked = args.findIndex(arg => isHelp(arg) || arg === 'help')
  if (asked === -1) return new UsageError(`usage:\n  ${usages.join('\n  ')}`)
  const named = usages.filter(usage => `${usage} `.startsWith([group, ...args.slice(0, asked), ''].join(' ')))
  return new HelpAsked(`usage:\n  ${(named.length === 0 ? usages : named).join('\n  ')}`)
}

/** `parseArgs` of Node with our errors: `HelpAsked` when there is a `--help`, `UsageError` for invalid arguments. */
export function parseCommand<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
  usage: string,
) {
  const end = args.indexOf('--')
  if (args.slice(0, end === -1 ? args.length : end).some(isHelp)) throw new HelpAsked(`usage: ${usage}`)
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\nusage: ${usage}`)
  }
}
