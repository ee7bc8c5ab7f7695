import { confirmNumber } from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'
import type { StaffCommand } from './staff-command.ts'

export const NUMBER_USAGE = 'parley admin number confirm NUMBER_ID [--move]'
const OPTIONS = { move: { type: 'boolean', default: false } } as const

/** Confirms that calls to a number from its trunk's addresses belong to its environment. */
export function numberConfirm(args: string[]): StaffCommand {
  const { values, positionals } = parseCommand(args, OPTIONS, NUMBER_USAGE)
  const [numberId] = positionals
  if (numberId === undefined || positionals.length !== 1) throw new UsageError(`usage: ${NUMBER_USAGE}`)
  return async tx => ({
    answer: await confirmNumber(tx, numberId.toLowerCase(), values.move),
    changed: [['telephony', numberId]],
  })
}
