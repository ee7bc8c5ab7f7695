import { preparationSql, readAddress } from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'

export const DATABASE_PREPARE_USAGE = 'parley admin database prepare'

/**
 * The SQL that an administrator of a managed database runs when the owner of `DATABASE_URL` may not create roles. Connects to nothing. Throws
 * `database_misconfigured` when the URL is not complete, a `UsageError` when there is none.
 */
export function databasePrepare(args: string[], databaseUrl: string | null): string {
  const { positionals } = parseCommand(args, {}, DATABASE_PREPARE_USAGE)
  if (positionals.length > 0) throw new UsageError(`usage: ${DATABASE_PREPARE_USAGE}`)
  if (databaseUrl === null)
    throw new UsageError(
      'DATABASE_URL is not set: the embedded database needs no preparation; set it to the URL that Parley will use',
    )
  return preparationSql(readAddress(databaseUrl))
}
