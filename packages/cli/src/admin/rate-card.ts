import { readFile, stat } from 'node:fs/promises'
import { jsonPointer, rateCardFile } from '@parley/contract'
import { installRateCard } from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'
import { ENV_OPTION, inEnvironment, type StaffAct } from './staff-act.ts'

export const RATE_CARD_USAGE = 'parley admin rate-card install FILE [--env TENANT_ID]'
const MAX_BYTES = 8 * 1024 * 1024
/** Of what is wrong with a file. */
const MOST_TOLD = 20

/** Runs admitted from now on, or from its `effective_at`, are priced by it. */
export function rateCardInstall(args: string[]): StaffAct {
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
    .slice(0, MOST_TOLD)
    .map(
      ({ path, message }) =>
        `  ${jsonPointer(path.map(part => (typeof part === 'symbol' ? '' : part))) || '/'}  ${message}`,
    )
  const more = issues.length > MOST_TOLD ? [`  and ${issues.length - MOST_TOLD} more`] : []
  throw new Error([`${file} is not a valid rate card:`, ...lines, ...more].join('\n'))
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
