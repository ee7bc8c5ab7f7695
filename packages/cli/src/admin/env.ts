import { readEnvironment, type StaffSetting, setEnvironment } from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'
import { country, DEFAULT, listed, numberPrefix, oneOf, wholeNumber } from './flag-values.ts'
import { ENV_OPTION, inEnvironment, type StaffCommand } from './staff-command.ts'

const ENV = '[--env TENANT_ID]'
export const ENV_USAGE = {
  show: `parley admin env show ${ENV}`,
  'set-capacity': `parley admin env set-capacity N ${ENV}`,
  'set-admission': `parley admin env set-admission on|off ${ENV}`,
  'set-rate-limit': `parley admin env set-rate-limit PER_SECOND BURST | default ${ENV}`,
  'set-destinations': `parley admin env set-destinations --countries US,DE,… | none | default [--allow-prefix +49180,…] ${ENV}`,
} as const

const MAX_CAPACITY = 100_000
const MAX_RATE = 1_000_000

export function envShow(args: string[]): StaffCommand {
  const { env } = parse('show', args, 0)
  return inEnvironment(env, async (tx, scope) => ({ answer: await readEnvironment(tx, scope), changed: [] }))
}

export function envSetCapacity(args: string[]): StaffCommand {
  const { env, positionals } = parse('set-capacity', args, 1)
  return setting(env, { set: 'capacity', value: wholeNumber('set-capacity', positionals[0], 0, MAX_CAPACITY) })
}

export function envSetAdmission(args: string[]): StaffCommand {
  const { env, positionals } = parse('set-admission', args, 1)
  return setting(env, { set: 'admission', value: oneOf('set-admission', positionals[0], ['on', 'off']) === 'on' })
}

export function envSetRateLimit(args: string[]): StaffCommand {
  const { env, positionals } = parse('set-rate-limit', args, args.includes(DEFAULT) ? 1 : 2)
  if (positionals[0] === DEFAULT) return setting(env, { set: 'rate_limit', value: null })
  const per_second = wholeNumber('PER_SECOND', positionals[0], 1, MAX_RATE)
  const burst = wholeNumber('BURST', positionals[1], 1, MAX_RATE)
  return setting(env, { set: 'rate_limit', value: { per_second, burst } })
}

export function envSetDestinations(args: string[]): StaffCommand {
  const usage = ENV_USAGE['set-destinations']
  const many = { type: 'string', multiple: true } as const
  const { values, positionals } = parseCommand(args, { ...ENV_OPTION, countries: many, 'allow-prefix': many }, usage)
  const { countries, 'allow-prefix': prefixes = [] } = values
  if (positionals.length > 0 || countries === undefined) throw new UsageError(`usage: ${usage}`)
  const only = countries.length === 1 ? countries[0] : undefined
  if (only === DEFAULT) {
    if (prefixes.length > 0) throw new UsageError('--allow-prefix needs --countries with a list of countries or "none"')
    return setting(values.env, { set: 'destinations', value: null })
  }
  const value = {
    countries: only === 'none' ? [] : listed('--countries', countries, country),
    allow_prefixes: listed('--allow-prefix', prefixes, numberPrefix),
  }
  return setting(values.env, { set: 'destinations', value })
}

function setting(env: string | undefined, change: StaffSetting): StaffCommand {
  return inEnvironment(env, async (tx, scope) => ({
    answer: await setEnvironment(tx, scope, change),
    changed: [['tenants', scope.tenant_id]],
  }))
}

function parse(verb: keyof typeof ENV_USAGE, args: string[], count: number) {
  const { values, positionals } = parseCommand(args, ENV_OPTION, ENV_USAGE[verb])
  if (positionals.length !== count) throw new UsageError(`usage: ${ENV_USAGE[verb]}`)
  return { env: values.env, positionals }
}
