import { readFile, stat } from 'node:fs/promises'
import { jsonPointer, rateCardFile } from '@parley/contract'
import { installRateCard } from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'
import { ENV_OPTION, inEnvironment, type StaffCommand } from './staff-command.ts'

export const RATE_CARD_USAGE = 'parley admin rate-card install FILE [--env TENANT_ID]'
const MAX_BYTES = 8 * 1024 * 1024
/** Faults of a file that are printed. */
const MAX_FAULTS = 20

/** Installs a rate card. It prices runs that are admitted from now on, or from its `effective_at`. */
export function rateCardInstall(args: string[]): StaffCommand {
  const { values, positionals } = parseCommand(args, ENV_OPTION, RATE_CARD_USAGE)
  const [file] = positionals
  if (file === undefined || positionals.length !== 1) throw new UsageError(`usage: ${RATE_CARD_USAGE}`)
  return async tx => {
    const { rate_card_id, effective_at = null, reserve_usd, rates } = await readCard(file)
    const install = inEnvironment(values.env, async (within, scope) => {
      await installRateCard(within, scope, { rate_card_id, effective_at, reserve_usd, rates })
      const answer = { tenant_id: scope.tenant_id, rate_card_id, effective_at, rates: rates.length }
      return { answer, changed: [['tenants', scope.tenant_id]] }
    })
    return install(tx)
  }
}

/** Throws an error that lists the faults with their places in the file. */
async function readCard(file: string) {
  if ((await stat(file)).size > MAX_BYTES) throw new Error(`${file} is longer than ${MAX_BYTES} bytes`)
  const card = rateCardFile.safeParse(parsed(file, await readFile(file, 'utf8')))
  if (card.success) return card.data
  const { issues } = card.error
  const lines = issues
    .slice(0, MAX_FAULTS)
    .map(
      ({ path, message }) =>
        `  ${jsonPointer(path.map(part => (typeof part === 'symbol' ? '' : part))) || '/'}  ${message}`,
    )
  const more = issues.length > MAX_FAULTS ? [`  and ${issues.length - MAX_FAULTS} more`] : []
  throw new Error([`${file} is not a valid rate card:`, ...lines, ...more].join('\n'))
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
