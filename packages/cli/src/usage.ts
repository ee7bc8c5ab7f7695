import { type ParseArgsConfig, parseArgs } from 'node:util'

/** The command line cannot be understood; the message says how it should look. */
export class UsageError extends Error {}

/** `parseArgs` of Node with our error. */
export function parseCommand<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
  usage: string,
) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\nusage: ${usage}`)
  }
}
