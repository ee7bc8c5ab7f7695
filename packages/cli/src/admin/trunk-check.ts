import type { Scope } from '@parley/contract'
import { type Finding, TrunkChecker } from '@parley/engine'
import { judgeDestination } from '@parley/flow'
import {
  asStaff,
  attachEmbeddedPostgres,
  type Database,
  type DialableTrunk,
  dialableTrunk,
  openDatabase,
  readTrunkDetails,
  staffScope,
  takeCallSlot,
  trunkHealth,
} from '@parley/store'
import { endpointOptions } from '../endpoint-options.ts'
import type { Settings } from '../environment.ts'
import { processIdentity } from '../identity.ts'
import { withSettingName } from '../start-faults.ts'
import { sealerOf } from '../state.ts'
import { parseCommand, UsageError } from '../usage.ts'
import { ENV_OPTION } from './staff-command.ts'

export const TRUNK_CHECK_USAGE = 'parley admin trunk check TRUNK [--to NUMBER] [--from NUMBER] [--env TENANT_ID]'
const HELP = [
  '',
  'Looks up the servers of a trunk, connects, sends OPTIONS and places a test call, as an engine on this machine would.',
  'Prints what it found, and for each problem how to mend it. Exit code 0: no problem; 1: at least one.',
  '',
  '  --to NUMBER    places a test call to this number, E.164: it rings, and hears a tone for 8 s when it answers',
  '  --from NUMBER  caller of the test call, E.164; default the first number of the trunk',
  '  --env TENANT   environment of the trunk; default the only production environment',
]
const STAGE_WIDTH = 12
const RESULT_WIDTH = 9

interface CheckRequest {
  readonly trunkId: string
  readonly env: string | null
  readonly to: string | null
  readonly from: string | null
}

/** Resolves with the exit code. Arguments are parsed before settings are read and the database is opened. */
export async function trunkCheck(
  args: string[],
  settingsOf: () => Settings,
  printLine: (line: string) => void,
): Promise<number> {
  const request = parse(args)
  const settings = settingsOf()
  const ownerUrl = settings.databaseUrl ?? (await attachEmbeddedPostgres(settings.home))
  const findings = await check(request, settings, ownerUrl, printLine).catch(error => {
    throw withSettingName('DATABASE_URL', settings.databaseUrl, error)
  })
  const problems = findings.filter(({ result }) => result === 'problem').length
  printLine(problems === 0 ? 'No problem was found.' : problems === 1 ? '1 problem.' : `${problems} problems.`)
  return problems === 0 ? 0 : 1
}

function parse(args: string[]): CheckRequest {
  const text = { type: 'string' } as const
  const { values, positionals } = parseCommand(args, { ...ENV_OPTION, to: text, from: text }, TRUNK_CHECK_USAGE, HELP)
  const [trunkId] = positionals
  if (trunkId === undefined || positionals.length !== 1) throw new UsageError(`usage: ${TRUNK_CHECK_USAGE}`)
  if (values.from !== undefined && values.to === undefined) throw new UsageError('--from needs --to')
  const to = values.to ?? null
  const from = values.from ?? null
  if (to !== null && !isDialable(to))
    throw new UsageError(
      `--to takes a number such as +4930123456, not ${JSON.stringify(to.slice(0, 100))}; emergency, short, premium and satellite numbers are never dialled`,
    )
  if (from !== null && !/^\+[1-9][0-9]{3,14}$/.test(from))
    throw new UsageError(`--from takes a number such as +4930123456, not ${JSON.stringify(from.slice(0, 100))}`)
  return { trunkId, env: values.env ?? null, to, from }
}

/** Staff choose the country themselves; the other rules for destinations hold. */
function isDialable(number: string): boolean {
  const rules = { allowedCountries: null, ownNumbers: [number], allowPrefixes: [], mayDial: true }
  return judgeDestination(number, rules).decision === 'allow'
}

async function check(
  { trunkId, env, to, from }: CheckRequest,
  settings: Settings,
  ownerUrl: string,
  printLine: (line: string) => void,
): Promise<readonly Finding[]> {
  const { scope, registration } = await asStaff(ownerUrl, async tx => {
    const scope = await staffScope(tx, env)
    await readTrunkDetails(tx, scope, trunkId)
    return { scope, registration: (await trunkHealth(tx, scope, trunkId)).registration }
  })
  const database = await openDatabase({ ownerUrl, maxConnections: 2 })
  try {
    const trunk = await dialableTrunk(database.within(scope), scope, trunkId)
    if (trunk === null) throw new UsageError(`the trunk ${trunkId} was deleted meanwhile`)
    const hasPassword = trunk.auth?.secret != null
    const checker = await TrunkChecker.open({
      ...endpointOptions(settings, await processIdentity(settings)),
      // An engine may be running here, with the configured ports.
      udpPort: 0,
      tcpPort: 0,
      tlsPort: 0,
      log: () => {},
    })
    try {
      return await checker.check({
        trunk,
        registration,
        sealer: hasPassword ? await sealerOf(settings, ownerUrl) : NO_PASSWORD,
        call: to === null ? null : { from: from ?? trunk.first_number, to },
        beforeCall: () => callSlot(database, scope, trunk),
        onFinding: finding => printLine(linesOf(finding)),
      })
    } finally {
      await checker.close()
    }
  } finally {
    await database.close()
  }
}

const NO_PASSWORD = {
  seal: (plain: Buffer) => plain,
  open: (): Buffer => {
    throw new TypeError('the trunk has no password')
  },
}

/** The test call counts in the trunk's call rate. */
async function callSlot(database: Database, scope: Scope, { trunk_id, details }: DialableTrunk): Promise<void> {
  for (;;) {
    const slot = await database.transaction(scope, tx => takeCallSlot(tx, scope, trunk_id, details.cps))
    if (slot.granted) return
    await new Promise(resolve => setTimeout(resolve, slot.retryInMs))
  }
}

function linesOf({ stage, result, text, remedy }: Finding): string {
  const line = `${stage.padEnd(STAGE_WIDTH)}${result.padEnd(RESULT_WIDTH)}${text}`
  return remedy === null ? line : `${line}\n${' '.repeat(STAGE_WIDTH + RESULT_WIDTH)}To mend it: ${remedy}`
}
