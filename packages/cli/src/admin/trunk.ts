import { CODEC_NAMES, type CodecName, isCodecName } from '@parley/media'
import { setTrunkDetails, type TrunkChanges, type TrunkDetails } from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'
import { country, DEFAULT, listed, network, oneOf, wholeNumber, words } from './flag-values.ts'
import { ENV_OPTION, inEnvironment, type StaffCommand } from './staff-command.ts'

export const TRUNK_USAGE =
  'parley admin trunk set TRUNK [--port N] [--transport udp|tcp|tls] [--media srtp|srtp-without-tls|rtp] [--codecs PCMU,PCMA,G722] [--source ADDRESS,…] [--realms REALM,…] [--country DE] [--cps N] [--inbound-cps N] [--profile NAME] [--identity USER] [--rtp-timeout SECONDS] [--register | --no-register] [--env TENANT_ID]   (the value "default" restores the default; --profile and --register have no effect yet)'

const MAX_CPS = 1000
const MIN_RTP_TIMEOUT_S = 5
const MAX_RTP_TIMEOUT_S = 3600
const MAX_NAME = 64
const MAX_IDENTITY = 128
const MAX_REALM = 128
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
    ...optional('profile', values.profile, profile),
    ...optional('identity', values.identity, identity),
    ...optional('rtp_timeout', values['rtp-timeout'], rtpTimeout),
    ...registration(values.register === true, values['no-register'] === true),
  }
  if (Object.keys(changes).length === 0) throw new UsageError(`give at least one detail to set\nusage: ${TRUNK_USAGE}`)
  return inEnvironment(values.env, async (tx, scope) => {
    const details = await setTrunkDetails(tx, scope, trunk, changes)
    return {
      answer: { tenant_id: scope.tenant_id, trunk_id: trunk, details, warnings: warningsAbout(details) },
      changed: [['telephony', trunk]],
    }
  })
}

/** Warnings about details that are stored but not used yet, and about details that contradict one another. */
function warningsAbout({ profile, register, transport = 'tls', media = 'srtp' }: TrunkDetails): string[] {
  const warnings: string[] = []
  if (transport !== 'tls' && media === 'srtp')
    warnings.push(
      `--transport ${transport} carries no SRTP keys, so that calls of this trunk fail: set --transport tls, or on purpose --media rtp or --media srtp-without-tls`,
    )
  if (profile !== undefined) warnings.push('--profile has no effect yet: every trunk gets the same SIP and SDP')
  if (register === true)
    warnings.push(
      '--register has no effect yet: Parley sends no REGISTER; configure the carrier to send calls to the inbound SIP URI of the trunk',
    )
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

function profile(value: string): string {
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(value) || value.length > MAX_NAME)
    throw new UsageError(
      `--profile takes lower-case letters, digits, _ and -, at most ${MAX_NAME}, not ${JSON.stringify(value)}`,
    )
  return value
}

/** The user name or number by which the carrier knows us; it is copied into SIP headers unchanged. */
function identity(value: string): string {
  if (!/^[A-Za-z0-9+_.!~*'()-]+$/.test(value))
    throw new UsageError('--identity takes a number or the user part of a SIP address, such as +4930123456')
  return words('--identity', value, MAX_IDENTITY)
}
