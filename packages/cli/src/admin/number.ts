import { confirmNumber, forgetNumber } from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'
import { ENV_OPTION, inEnvironment, type StaffCommand } from './staff-command.ts'

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

export const NUMBER_FORGET_USAGE = 'parley admin number forget PHONE_NUMBER [--env TENANT_ID]'

/** Agents do not remember the calls with this number up to now, whoever called. */
export function numberForget(args: string[]): StaffCommand {
  const { values, positionals } = parseCommand(args, ENV_OPTION, NUMBER_FORGET_USAGE)
  const [phoneNumber = ''] = positionals
  if (positionals.length !== 1 || !/^\+[1-9]\d{6,14}$/.test(phoneNumber))
    throw new UsageError(`PHONE_NUMBER must be in E.164, such as +4930123456; usage: ${NUMBER_FORGET_USAGE}`)
  return inEnvironment(values.env, async (tx, scope) => ({
    answer: await forgetNumber(tx, scope, phoneNumber),
    changed: [],
  }))
}
