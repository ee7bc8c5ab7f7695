import { resolve } from 'node:path'
import { parseEgressAllow } from '@parley/egress'
import type { VendorAccess } from '@parley/providers'
import { type IpNetwork, isHostName, parseIpNetwork } from '@parley/sip'
import { parseBlobUrl } from '@parley/store'
import { z } from 'zod'
import { parseResolveEntries, type ResolveEntry } from './resolve-entries.ts'
import { address, httpAddress, key } from './setting-schemas.ts'
import { readVendorSettings } from './vendor-settings.ts'

/** A whole number within bounds. An empty text is none, though `Number` makes it 0. */
function wholeNumber(what: string, from: number, to: number) {
  const text = `must be ${what}: a whole number, ${from} to ${to}`
  const digits = z
    .string()
    .trim()
    .regex(/^\d{1,15}$/, text)
    .transform(Number)
  return digits.refine(value => value >= from && value <= to, text)
}

const port = wholeNumber('a port (0: any free one)', 0, 65_535)

const ipv4 = z.ipv4('must be an IPv4 address, such as 10.0.0.5')

const portRange = z
  .string()
  .regex(/^\d+-\d+$/, 'must be FROM-TO, such as 10000-19999')
  .transform(text => {
    const [from, to] = text.split('-').map(Number)
    return { from: from!, to: to! }
  })
  .refine(range => range.from >= 1 && range.to <= 65_535 && range.to > range.from, 'must rise, within 1-65535')

const resolveEntries = z.string().transform((text, context) => {
  const entries = parseResolveEntries(text)
  if (typeof entries !== 'string') return entries
  context.addIssue({ code: 'custom', message: entries })
  return z.NEVER
})

const egressAllow = z.string().transform((text, context) => {
  const entries = parseEgressAllow(text)
  if (typeof entries !== 'string') return entries
  context.addIssue({ code: 'custom', message: entries })
  return z.NEVER
})

const networks = z.string().transform((text, context) => {
  const parts = text.split(',').map(part => part.trim())
  return parts
    .filter(part => part !== '')
    .map(part => {
      const network = parseIpNetwork(part)
      if (network === undefined)
        context.addIssue({ code: 'custom', message: `"${part}" is no network, such as 10.0.0.0/8` })
      return network ?? z.NEVER
    })
})

const httpUrl = httpAddress.transform(url => url.replace(/\/+$/, ''))

const blobUrl = z.string().transform((text, context) => {
  try {
    parseBlobUrl(text)
    return text
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
    return z.NEVER
  }
})

const variables = z.object({
  PARLEY_HOME: z.string().min(1).default('.parley'),
  PARLEY_HTTP_BIND: ipv4.default('127.0.0.1'),
  PARLEY_HTTP_PORT: port.default(8080),
  PARLEY_PUBLIC_URL: httpUrl.optional(),
  DATABASE_URL: address(/^postgres(ql)?$/, 'postgres://owner:password@host:5432/database').optional(),
  REDIS_URL: address(/^rediss?$/, 'redis://host:6379').optional(),
  BLOB_URL: blobUrl.optional(),
  PARLEY_MASTER_KEY: key.optional(),
  PARLEY_SIP_BIND: ipv4.default('127.0.0.1'),
  PARLEY_SIP_PORT: port.default(5060),
  PARLEY_SIP_TLS_PORT: port.default(5061),
  PARLEY_SIP_DOMAIN: z.string().min(1).default('localhost'),
  PARLEY_SIP_HOST: z.string().refine(isHostName, 'must be a host name or an IPv4 address').optional(),
  PARLEY_MEDIA_ADDRESS: ipv4.optional(),
  PARLEY_LOCAL_NETS: networks.prefault(''),
  PARLEY_RESOLVE: resolveEntries.prefault(''),
  PARLEY_RTP_BIND: ipv4.optional(),
  PARLEY_RTP_PORTS: portRange.prefault('10000-19999'),
  PARLEY_PACKET_IO: z.enum(['native', 'portable'], 'must be native or portable').optional(),
  PARLEY_EGRESS_ALLOW: egressAllow.prefault(''),
  PARLEY_LEASE_MS: wholeNumber('milliseconds', 300, 600_000).default(9000),
  PARLEY_SPOOL_MIB: wholeNumber('MiB', 1, 1_073_741_824).default(8192),
  PARLEY_DRAIN_MS: wholeNumber('milliseconds', 0, 86_400_000).default(3_600_000),
  PARLEY_TLS_CERT: z.string().optional(),
  PARLEY_TLS_KEY: z.string().optional(),
  PARLEY_TLS_CA: z.string().optional(),
})

/** The settings of a process, read once, passed down as values. */
export interface Settings {
  /** Absolute path; state lives here. */
  readonly home: string
  /** Where the API listens. */
  readonly http: { readonly bind: string; readonly port: number }
  /** Base URL under which others reach the API; null: the address it listens on. */
  readonly publicUrl: string | null
  /** Null: the embedded Postgres under `home`. */
  readonly databaseUrl: string | null
  /** Null: the bus runs on Postgres. */
  readonly redisUrl: string | null
  /** Where recordings are kept; null: in files under `home`. */
  readonly blobUrl: string | null
  /** Null: a key under `home`, made on first start. */
  readonly masterKey: string | null
  readonly sipBind: string
  /** UDP and TCP. */
  readonly sipPort: number
  readonly sipTlsPort: number
  readonly sipDomain: string
  /** This engine's own name or address: in its local certificate, Contact and Via; null: the bound address. */
  readonly sipHost: string | null
  readonly rtpBind: string
  /** What SDP says instead of `rtpBind`, but for peers in `localNetworks`. */
  readonly mediaAddress: string | undefined
  readonly localNetworks: readonly IpNetwork[]
  /** What stands before the DNS. */
  readonly resolve: readonly ResolveEntry[]
  readonly rtpPorts: { readonly from: number; readonly to: number }
  /** Undefined: native where it is built, else portable. */
  readonly packetIo: 'native' | 'portable' | undefined
  /** Bytes of recordings that may wait for the blobs: from there on none begins. */
  readonly spoolBytes: number
  /** How long a process owns a run without renewing, ms: a third of it is how often it renews. */
  readonly leaseMs: number
  /** How long live calls may go on after SIGTERM, ms. */
  readonly drainMs: number
  /** Private addresses that agents' HTTP actions may reach all the same. */
  readonly egressAllow: readonly { readonly host: string; readonly port: number }[]
  /** By name: the vendors whose key is set. */
  readonly vendors: Readonly<Record<string, VendorAccess>>
  /** Paths of PEM files; null: a local authority under `home` signs. */
  readonly tlsFiles: { readonly cert: string; readonly key: string; readonly ca: string | null } | null
}

export class SettingsError extends Error {}

const clientVariables = z.object({
  PARLEY_HOME: z.string().min(1).default('.parley'),
  PARLEY_API: httpUrl.transform(url => url.replace(/\/api\/v1$/, '')).optional(),
  PARLEY_KEY: key.optional(),
})

/** What the commands that ask the API go by; null: what `demo.json` under `home` says. */
export interface ClientSettings {
  readonly home: string
  /** Base URL, without the `/api/v1` that it may be given with. */
  readonly api: string | null
  readonly key: string | null
}

/** Throws as {@link readSettings} does. */
export function readClientSettings(environment: Readonly<Record<string, string | undefined>>): ClientSettings {
  const values = parsedBy(clientVariables, environment)
  return { home: resolve(values.PARLEY_HOME), api: values.PARLEY_API ?? null, key: values.PARLEY_KEY ?? null }
}

function parsedBy<Values extends z.ZodType>(
  schema: Values,
  environment: Readonly<Record<string, string | undefined>>,
  otherProblems: readonly string[] = [],
): z.output<Values> {
  const parsed = schema.safeParse(environment)
  const issues = parsed.error?.issues ?? []
  const problems = [...issues.map(issue => `${issue.path.join('.')}: ${issue.message}`), ...otherProblems]
  if (!parsed.success || problems.length > 0) throw new SettingsError(problems.join('\n'))
  return parsed.data
}

/** Names in `environment` that look like settings and are none: misspelt, or of another version. */
export function unknownSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const isKnown = (name: string) => name in variables.shape || name in clientVariables.shape || name === 'PARLEY_DEBUG'
  return Object.keys(environment).filter(name => name.startsWith('PARLEY_') && !isKnown(name))
}

/** Throws `SettingsError` that names every variable at fault and what would do. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const vendorProblems: string[] = []
  const vendors = readVendorSettings(environment, vendorProblems)
  const values = parsedBy(variables, environment, vendorProblems)
  const { PARLEY_TLS_CERT: cert, PARLEY_TLS_KEY: key, PARLEY_TLS_CA: ca } = values
  if ((cert === undefined) !== (key === undefined))
    throw new SettingsError('PARLEY_TLS_CERT and PARLEY_TLS_KEY: give both or none')
  const rtpBind = values.PARLEY_RTP_BIND ?? values.PARLEY_SIP_BIND
  const { PARLEY_MEDIA_ADDRESS: mediaAddress, PARLEY_LOCAL_NETS: localNetworks } = values
  if (rtpBind === '0.0.0.0' && (mediaAddress === undefined || localNetworks.length > 0))
    throw new SettingsError(
      mediaAddress === undefined
        ? 'PARLEY_RTP_BIND: 0.0.0.0 is no address that a peer can send to: set PARLEY_MEDIA_ADDRESS, or bind one address'
        : 'PARLEY_RTP_BIND: with PARLEY_LOCAL_NETS it must be the address that local peers reach, not 0.0.0.0',
    )
  return {
    home: resolve(values.PARLEY_HOME),
    http: { bind: values.PARLEY_HTTP_BIND, port: values.PARLEY_HTTP_PORT },
    publicUrl: values.PARLEY_PUBLIC_URL ?? null,
    databaseUrl: values.DATABASE_URL ?? null,
    redisUrl: values.REDIS_URL ?? null,
    blobUrl: values.BLOB_URL ?? null,
    masterKey: values.PARLEY_MASTER_KEY ?? null,
    sipBind: values.PARLEY_SIP_BIND,
    sipPort: values.PARLEY_SIP_PORT,
    sipTlsPort: values.PARLEY_SIP_TLS_PORT,
    sipDomain: values.PARLEY_SIP_DOMAIN,
    sipHost: values.PARLEY_SIP_HOST ?? (values.PARLEY_SIP_BIND === '0.0.0.0' ? values.PARLEY_SIP_DOMAIN : null),
    rtpBind,
    mediaAddress,
    localNetworks,
    resolve: values.PARLEY_RESOLVE,
    rtpPorts: values.PARLEY_RTP_PORTS,
    packetIo: values.PARLEY_PACKET_IO,
    spoolBytes: values.PARLEY_SPOOL_MIB * 1024 ** 2,
    leaseMs: values.PARLEY_LEASE_MS,
    drainMs: values.PARLEY_DRAIN_MS,
    egressAllow: values.PARLEY_EGRESS_ALLOW,
    vendors,
    tlsFiles: cert === undefined || key === undefined ? null : { cert, key, ca: ca ?? null },
  }
}
