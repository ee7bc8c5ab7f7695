import { type ParseArgsConfig, parseArgs } from 'node:util'

/** An invalid command line; the message shows the usage. */
export class UsageError extends Error {}

/** The user asked for help; the message is the usage. It is printed, and the exit code is 0. */
export class HelpRequested extends Error {}

const isHelp = (arg: string | undefined) => arg === '--help' || arg === '-h'

/**
 * The error to throw when `args` name no command of a group. With `--help` or `help` in `args` it is the usage of the named
 * part (`parley admin env --help`), otherwise a `UsageError` with all `usages`.
 */
export function groupUsage(
  group: string,
  args: readonly string[],
  usages: readonly string[],
): HelpRequested | UsageError {
  const helpAt = args.findIndex(arg => isHelp(arg) || arg === 'help')
  if (helpAt === -1) return new UsageError(`usage:\n  ${usages.join('\n  ')}`)
  const named = usages.filter(usage => `${usage} `.startsWith([group, ...args.slice(0, helpAt), ''].join(' ')))
  return new HelpRequested(`usage:\n  ${(named.length === 0 ? usages : named).join('\n  ')}`)
}

/**
 * Node's `parseArgs` with the errors of this command: `HelpRequested` when there is a `--help`, `UsageError` for invalid
 * arguments. `help`: lines below the usage that say what the command and its switches do.
 */
export function parseCommand<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
  usage: string,
  help: readonly string[] = [],
) {
  const end = args.indexOf('--')
  if (args.slice(0, end === -1 ? args.length : end).some(isHelp))
    throw new HelpRequested([`usage: ${usage}`, ...help].join('\n'))
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\nusage: ${usage}`)
  }
}
