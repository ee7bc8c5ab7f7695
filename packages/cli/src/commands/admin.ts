import { asStaff, attachEmbeddedPostgres, postgresBus, redisBus } from '@parley/store'
import { DATABASE_PREPARE_USAGE, databasePrepare } from '../admin/database-prepare.ts'
import {
  ENV_USAGE,
  envSetAdmission,
  envSetCapacity,
  envSetDestinations,
  envSetRateLimit,
  envShow,
} from '../admin/env.ts'
import { KEY_USAGE, keyCreate } from '../admin/key.ts'
import { MASTER_KEY_USAGE, rotate } from '../admin/master-key.ts'
import { NUMBER_FORGET_USAGE, NUMBER_USAGE, numberConfirm, numberForget } from '../admin/number.ts'
import { ORG_USAGE, orgCreate, orgList } from '../admin/org.ts'
import { RATE_CARD_USAGE, rateCardInstall } from '../admin/rate-card.ts'
import { rotateSigningKey, SIGNING_KEY_USAGE } from '../admin/signing-key.ts'
import type { StaffCommand } from '../admin/staff-command.ts'
import { TRUNK_LIST_USAGE, TRUNK_SHOW_USAGE, TRUNK_USAGE, trunkList, trunkSet, trunkShow } from '../admin/trunk.ts'
import { TRUNK_CHECK_USAGE, trunkCheck } from '../admin/trunk-check.ts'
import { readSettings, type Settings } from '../environment.ts'
import { withSettingName } from '../start-faults.ts'
import { groupUsage, parseCommand, UsageError } from '../usage.ts'

const COMMANDS: Readonly<Record<string, (args: string[]) => StaffCommand>> = {
  'org create': orgCreate,
  'org list': orgList,
  'env show': envShow,
  'env set-capacity': envSetCapacity,
  'env set-admission': envSetAdmission,
  'env set-rate-limit': envSetRateLimit,
  'env set-destinations': envSetDestinations,
  'trunk set': trunkSet,
  'trunk list': trunkList,
  'trunk show': trunkShow,
  'number confirm': numberConfirm,
  'number forget': numberForget,
  'rate-card install': rateCardInstall,
  'key create': keyCreate,
}

const USAGES = [
  ...ORG_USAGE,
  ...Object.values(ENV_USAGE),
  TRUNK_USAGE,
  TRUNK_CHECK_USAGE,
  TRUNK_LIST_USAGE,
  TRUNK_SHOW_USAGE,
  NUMBER_USAGE,
  NUMBER_FORGET_USAGE,
  RATE_CARD_USAGE,
  KEY_USAGE,
  MASTER_KEY_USAGE,
  SIGNING_KEY_USAGE,
  DATABASE_PREPARE_USAGE,
]

type DatabaseSettings = Pick<Settings, 'home' | 'databaseUrl' | 'redisUrl' | 'masterKey'>

/** The commands of platform staff. They use the database of `DATABASE_URL` or of a running `npm start`, and print one JSON value; `trunk check` prints lines, `database prepare` SQL. */
export async function admin(args: string[]): Promise<number> {
  if (args[0] === 'trunk' && args[1] === 'check')
    return trunkCheck(
      args.slice(2),
      () => readSettings(process.env),
      line => process.stdout.write(`${line}\n`),
    )
  if (args[0] === 'database' && args[1] === 'prepare') {
    process.stdout.write(databasePrepare(args.slice(2), readSettings(process.env).databaseUrl))
    return 0
  }
  const answer = await adminAnswer(args, () => readSettings(process.env))
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
  return 0
}

/** Arguments are parsed before settings are read and the database is opened. */
export async function adminAnswer(args: string[], settingsOf: () => DatabaseSettings): Promise<unknown> {
  const work = parse(args)
  const settings = settingsOf()
  const ownerUrl = settings.databaseUrl ?? (await attachEmbeddedPostgres(settings.home))
  return work(settings, ownerUrl).catch(error => {
    throw withSettingName('DATABASE_URL', settings.databaseUrl, error)
  })
}

function parse(args: string[]): (settings: DatabaseSettings, ownerUrl: string) => Promise<unknown> {
  const name = args.slice(0, 2).join(' ')
  const rest = args.slice(2)
  if (name === 'master-key rotate') {
    const { positionals } = parseCommand(rest, {}, MASTER_KEY_USAGE)
    if (positionals.length > 0) throw new UsageError(`usage: ${MASTER_KEY_USAGE}`)
    return ({ home, masterKey }, ownerUrl) => rotate({ home, configured: masterKey }, ownerUrl)
  }
  if (name === 'signing-key rotate') {
    const { positionals } = parseCommand(rest, {}, SIGNING_KEY_USAGE)
    if (positionals.length > 0) throw new UsageError(`usage: ${SIGNING_KEY_USAGE}`)
    return (settings, ownerUrl) => rotateSigningKey(settings, ownerUrl)
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name]?.(rest) : undefined
  if (command === undefined) throw groupUsage('parley admin', args, USAGES)
  return (settings, ownerUrl) => perform(command, settings, ownerUrl)
}

/** Runs the command in one transaction, then notifies the processes that cache the changed rows. */
async function perform(command: StaffCommand, { redisUrl }: DatabaseSettings, ownerUrl: string): Promise<unknown> {
  const { answer, changed } = await asStaff(ownerUrl, command)
  if (changed.length === 0) return answer
  const bus = redisUrl === null ? postgresBus({ url: ownerUrl }) : redisBus({ url: redisUrl })
  for (const [topic, id] of changed) bus.publish(topic, id)
  await bus.close()
  return answer
}
