import type { Scope } from '@parley/contract'
import { CODEC_NAMES, type CodecName, isCodecName } from '@parley/media'
import {
  detailsInForce,
  listTrunks,
  type Queries,
  readTrunkDetails,
  setTrunkDetails,
  TRUNK_PROFILE_NAMES,
  type TrunkChanges,
  type TrunkDetails,
  type TrunkRow,
  trunkHealth,
  trunkOf,
} from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'
import { country, DEFAULT, listed, network, oneOf, wholeNumber, words } from './flag-values.ts'
import { ENV_OPTION, inEnvironment, type StaffCommand } from './staff-command.ts'
import { assertedIdentity, diversion, headersIn, headersOut, identity, privacy } from './trunk-identity.ts'

export const TRUNK_USAGE =
  'parley admin trunk set TRUNK [--port N] [--transport udp|tcp|tls] [--media srtp|srtp-without-tls|rtp] [--codecs PCMU,PCMA,G722,OPUS] [--source ADDRESS,…] [--realms REALM,…] [--country DE] [--cps N] [--inbound-cps N] [--profile twilio|telnyx|bandwidth|vonage|generic] [--identity USER] [--rtp-timeout SECONDS] [--asserted-identity caller|NUMBER] [--privacy id,…] [--diversion NUMBER] [--headers-in NAME,…] [--headers-out NAME,…] [--number-format-in any|e164|national] [--number-format-out e164|digits|national] [--prefix-in DIGITS] [--prefix-out DIGITS] [--refer on|off] [--session-expires SECONDS] [--dtmf events|info] [--keep-alive SECONDS] [--ping SECONDS|off] [--register | --no-register] [--env TENANT_ID]   (the value "default" restores the default)'
export const TRUNK_SHOW_USAGE = 'parley admin trunk show TRUNK [--env TENANT_ID]'
export const TRUNK_LIST_USAGE = 'parley admin trunk list [--env TENANT_ID]'

const MAX_CPS = 1000
const MIN_RTP_TIMEOUT_S = 5
const MAX_RTP_TIMEOUT_S = 3600
const MAX_REALM = 128
/** RFC 4028 section 5: no interval is shorter. */
const MIN_SESSION_S = 90
const MAX_SESSION_S = 86_400
/** A shorter interval keeps no more paths open; a longer one than the engine's own, 25 to 29 s, loses some. */
const MIN_KEEP_ALIVE_S = 5
const MAX_KEEP_ALIVE_S = 25
/** Carriers ban clients that send OPTIONS more often. */
const MIN_PING_S = 15
const MAX_PING_S = 3600
const TRUNKS_AT_ONCE = 200
const text = { type: 'string' } as const

const OPTIONS = {
  ...ENV_OPTION,
  port: text,
  transport: text,
  media: text,
  codecs: text,
  source: { type: 'string', multiple: true },
  realms: { type: 'string', multiple: true },
  country: text,
  cps: text,
  'inbound-cps': text,
  profile: text,
  identity: text,
  'rtp-timeout': text,
  'asserted-identity': text,
  privacy: text,
  diversion: text,
  'headers-in': text,
  'headers-out': text,
  'number-format-in': text,
  'number-format-out': text,
  'prefix-in': text,
  'prefix-out': text,
  refer: text,
  'session-expires': text,
  dtmf: text,
  'keep-alive': text,
  ping: text,
  register: { type: 'boolean' },
  'no-register': { type: 'boolean' },
} as const

export function trunkSet(args: string[]): StaffCommand {
  const { values, positionals } = parseCommand(args, OPTIONS, TRUNK_USAGE)
  const [trunk] = positionals
  if (trunk === undefined || positionals.length !== 1) throw new UsageError(`usage: ${TRUNK_USAGE}`)
  const changes: TrunkChanges = {
    ...optional('port', values.port, value => wholeNumber('--port', value, 1, 65_535)),
    ...optional('transport', values.transport, value => oneOf('--transport', value, ['udp', 'tcp', 'tls'])),
    ...optional('media', values.media, value => oneOf('--media', value, ['srtp', 'srtp-without-tls', 'rtp'])),
    ...optional('codecs', values.codecs, codecs),
    ...list('source', values.source, network),
    ...list('realms', values.realms, realm),
    ...optional('country', values.country, value => country('--country', value)),
    ...optional('cps', values.cps, value => wholeNumber('--cps', value, 1, MAX_CPS)),
    ...optional('inbound_cps', values['inbound-cps'], value => wholeNumber('--inbound-cps', value, 1, MAX_CPS)),
    ...optional('profile', values.profile, value => oneOf('--profile', value, TRUNK_PROFILE_NAMES)),
    ...optional('identity', values.identity, identity),
    ...optional('rtp_timeout', values['rtp-timeout'], rtpTimeout),
    ...optional('asserted_identity', values['asserted-identity'], assertedIdentity),
    ...optional('privacy', values.privacy, privacy),
    ...optional('diversion', values.diversion, diversion),
    ...optional('headers_in', values['headers-in'], headersIn),
    ...optional('headers_out', values['headers-out'], headersOut),
    ...optional('number_format_in', values['number-format-in'], value =>
      oneOf('--number-format-in', value, ['any', 'e164', 'national']),
    ),
    ...optional('number_format_out', values['number-format-out'], value =>
      oneOf('--number-format-out', value, ['e164', 'digits', 'national']),
    ),
    ...optional('prefix_in', values['prefix-in'], value => prefix('--prefix-in', value)),
    ...optional('prefix_out', values['prefix-out'], value => prefix('--prefix-out', value)),
    ...optional('refer', values.refer, value => oneOf('--refer', value, ['on', 'off']) === 'on'),
    ...optional('session_expires', values['session-expires'], value =>
      wholeNumber('--session-expires', value, MIN_SESSION_S, MAX_SESSION_S),
    ),
    ...optional('dtmf', values.dtmf, value => oneOf('--dtmf', value, ['events', 'info'])),
    ...optional('keep_alive', values['keep-alive'], value =>
      wholeNumber('--keep-alive', value, MIN_KEEP_ALIVE_S, MAX_KEEP_ALIVE_S),
    ),
    ...optional('ping', values.ping, ping),
    ...registration(values.register === true, values['no-register'] === true),
  }
  if (Object.keys(changes).length === 0) throw new UsageError(`give at least one detail to set\nusage: ${TRUNK_USAGE}`)
  return inEnvironment(values.env, async (tx, scope) => {
    const details = await setTrunkDetails(tx, scope, trunk, changes)
    const row = await trunkOf(tx, scope, trunk)
    return {
      answer: { tenant_id: scope.tenant_id, trunk_id: trunk, details, warnings: warningsAbout(details, row) },
      changed: [['telephony', trunk]],
    }
  })
}

/** Trunks of an environment, by id, with the figures of the last hour. */
export function trunkList(args: string[]): StaffCommand {
  const { values, positionals } = parseCommand(args, ENV_OPTION, TRUNK_LIST_USAGE)
  if (positionals.length > 0) throw new UsageError(`usage: ${TRUNK_LIST_USAGE}`)
  return inEnvironment(values.env, async (tx, scope) => {
    const trunks: object[] = []
    for await (const { trunk_id, name, termination_uri, inbound } of everyTrunk(tx, scope)) {
      const { outbound, inbound: received, ping, registration, ...last } = await trunkHealth(tx, scope, trunk_id)
      trunks.push({
        trunk_id,
        name,
        termination_uri,
        inbound,
        ping: ping?.state ?? null,
        registration: registration?.state ?? null,
        outbound,
        inbound_calls: received,
        ...last,
      })
    }
    return { answer: { tenant_id: scope.tenant_id, trunks }, changed: [] }
  })
}

async function* everyTrunk(tx: Queries, scope: Scope): AsyncGenerator<TrunkRow> {
  let cursor: string | null = null
  do {
    const page = await listTrunks(tx, scope, { cursor, limit: TRUNKS_AT_ONCE })
    yield* page.rows
    cursor = page.next_cursor
  } while (cursor !== null)
}

/** Prints a trunk's settings in force and its health. */
export function trunkShow(args: string[]): StaffCommand {
  const { values, positionals } = parseCommand(args, ENV_OPTION, TRUNK_SHOW_USAGE)
  const [trunk] = positionals
  if (trunk === undefined || positionals.length !== 1) throw new UsageError(`usage: ${TRUNK_SHOW_USAGE}`)
  return inEnvironment(values.env, async (tx, scope) => {
    const details = await readTrunkDetails(tx, scope, trunk)
    const answer = {
      tenant_id: scope.tenant_id,
      trunk_id: trunk,
      details,
      in_force: detailsInForce(details),
      health: await trunkHealth(tx, scope, trunk),
    }
    return { answer, changed: [] }
  })
}

/** Warnings about details that contradict one another, and about a trunk that lacks what a registration needs. */
function warningsAbout(details: TrunkDetails, row: TrunkRow | null): string[] {
  const { transport = 'tls', media = 'srtp', register, identity } = detailsInForce(details)
  const warnings: string[] = []
  if (transport !== 'tls' && media === 'srtp')
    warnings.push(
      `--transport ${transport} carries no SRTP keys, so that calls of this trunk fail: set --transport tls, or on purpose --media rtp or --media srtp-without-tls`,
    )
  if (register !== true) return warnings
  if (row?.inbound !== true)
    warnings.push('--register has no effect while the trunk takes no inbound calls: set its field inbound to true')
  if (identity === undefined && (row?.auth_username ?? null) === null)
    warnings.push('--register has no effect without an account: give --identity, or set auth_username of the trunk')
  return warnings
}

function optional<const Name extends string, Value>(
  name: Name,
  value: string | undefined,
  read: (value: string) => Value,
): { readonly [N in Name]?: Value | null } {
  if (value === undefined) return {}
  return { [name]: value === DEFAULT ? null : read(value) } as { readonly [N in Name]: Value | null }
}

function list<const Name extends 'source' | 'realms'>(
  name: Name,
  values: readonly string[] | undefined,
  read: (flag: string, text: string) => string,
): Pick<TrunkChanges, Name> {
  if (values === undefined) return {} as Pick<TrunkChanges, Name>
  const isDefault = values.length === 1 && values[0] === DEFAULT
  return { [name]: isDefault ? null : listed(`--${name}`, values, read) } as Pick<TrunkChanges, Name>
}

function realm(flag: string, value: string): string {
  return words(flag, value, MAX_REALM)
}

/** Codecs in order of preference, without duplicates. */
function codecs(value: string): readonly CodecName[] {
  const names = value.toUpperCase().split(',')
  const unknown = names.find(name => !isCodecName(name))
  if (unknown !== undefined || new Set(names).size < names.length)
    throw new UsageError(
      `--codecs takes ${CODEC_NAMES.join(', ')}, each once, separated by commas, not ${JSON.stringify(value)}`,
    )
  return names.filter(isCodecName)
}

function registration(on: boolean, off: boolean): Pick<TrunkChanges, 'register'> {
  if (on && off) throw new UsageError('--register and --no-register: give only one of them')
  return on || off ? { register: on } : {}
}

/** Seconds without any packet after which a call ends; 0 for "off". */
function rtpTimeout(value: string): number {
  return value === 'off' ? 0 : wholeNumber('--rtp-timeout', value, MIN_RTP_TIMEOUT_S, MAX_RTP_TIMEOUT_S)
}

/** Seconds between OPTIONS; 0 for "off". */
function ping(value: string): number {
  return value === 'off' ? 0 : wholeNumber('--ping', value, MIN_PING_S, MAX_PING_S)
}

/** Dialled digits that stand before a number, such as an access code. */
function prefix(flag: string, value: string): string {
  if (!/^[0-9*]{1,16}$/.test(value)) throw new UsageError(`${flag} takes 1 to 16 digits or *, such as 00`)
  return value
}
