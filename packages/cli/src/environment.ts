import { resolve } from 'node:path'
import { parseEgressAllow } from '@parley/egress'
import { LOCAL_SERVERS, type VendorAccess } from '@parley/providers'
import { type IpNetwork, isHostName, parseIpNetwork } from '@parley/sip'
import { parseBlobUrl } from '@parley/store'
import type { LiveKitAccess } from '@parley/webrtc'
import { z } from 'zod'
import { liveKitOf, liveKitVariables } from './livekit-settings.ts'
import { parseResolveEntries, type ResolveEntry } from './resolve-entries.ts'
import { address, httpAddress, key } from './setting-schemas.ts'
import { turnVariables, type WebRelay, webRelayOf } from './turn-settings.ts'
import { readVendorServers, readVendorSettings } from './vendor-settings.ts'

/** A whole number within bounds. An empty string is invalid, although `Number('')` is 0. */
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
  .refine(
    range => range.from >= 1 && range.to <= 65_535 && range.to > range.from,
    'FROM must be less than TO, both within 1-65535',
  )

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
        context.addIssue({ code: 'custom', message: `"${part}" must be a network, such as 10.0.0.0/8` })
      return network ?? z.NEVER
    })
})

const captureServer = z.string().transform((text, context) => {
  const [, host = '', port = ''] = /^(\[[0-9A-Fa-f:.]+\]|[^:\s]+):(\d{1,5})$/.exec(text) ?? []
  if (Number(port) >= 1 && Number(port) <= 65_535) return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  context.addIssue({ code: 'custom', message: 'must be HOST:PORT, such as homer.example:9060' })
  return z.NEVER
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

const smtpUrl = address(/^smtps?$/, 'smtp://user:password@host:587?from=parley%40example.com')

const variables = z.object({
  PARLEY_HOME: z.string().min(1).default('.parley'),
  PARLEY_HTTP_BIND: ipv4.default('127.0.0.1'),
  PARLEY_HTTP_PORT: port.default(8080),
  PARLEY_PUBLIC_URL: httpUrl.optional(),
  DATABASE_URL: address(/^postgres(ql)?$/, 'postgres://owner:password@host:5432/database').optional(),
  REDIS_URL: address(/^rediss?$/, 'redis://host:6379').optional(),
  BLOB_URL: blobUrl.optional(),
  SMTP_URL: smtpUrl.optional(),
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
  PARLEY_WEB_PORTS: portRange.optional(),
  ...turnVariables,
  ...liveKitVariables,
  PARLEY_PACKET_IO: z.enum(['native', 'portable'], 'must be native or portable').optional(),
  PARLEY_MEDIA_LATENESS_MS: wholeNumber('milliseconds', 1, 10_000).default(40),
  PARLEY_AUDIO_READ_LATENESS_MS: wholeNumber('milliseconds', 1, 10_000).default(250),
  PARLEY_EGRESS_ALLOW: egressAllow.prefault(''),
  PARLEY_PAGING_URL: httpUrl.prefault('https://events.pagerduty.com/v2/enqueue'),
  PARLEY_HEP: captureServer.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  PARLEY_LEASE_MS: wholeNumber('milliseconds', 300, 600_000).default(9000),
  PARLEY_SPOOL_MIB: wholeNumber('MiB', 1, 1_073_741_824).default(8192),
  PARLEY_KNOWLEDGE_MIB: wholeNumber('MiB', 16, 65_536).default(1024),
  PARLEY_DRAIN_MS: wholeNumber('milliseconds', 0, 86_400_000).default(3_600_000),
  PARLEY_TLS_CERT: z.string().optional(),
  PARLEY_TLS_KEY: z.string().optional(),
  PARLEY_TLS_CA: z.string().optional(),
})

/** The settings of a process, read once from its environment variables. */
export interface Settings {
  /** Directory of the files that the process writes; absolute path. */
  readonly home: string
  /** Listening address of the API. */
  readonly http: { readonly bind: string; readonly port: number }
  /** Base URL by which clients reach the API; null: the listening address. */
  readonly publicUrl: string | null
  /** Null: the embedded Postgres under `home`. */
  readonly databaseUrl: string | null
  /** Null: bus and queues use Postgres. */
  readonly redisUrl: string | null
  /** Store of the recordings; null: files under `home`. */
  readonly blobUrl: string | null
  /** E-mail server for invitations and login links; null: links are written to the log. */
  readonly smtpUrl: string | null
  /** Null: a key file under `home`, generated at the first start. */
  readonly masterKey: string | null
  readonly sipBind: string
  /** UDP and TCP. */
  readonly sipPort: number
  readonly sipTlsPort: number
  readonly sipDomain: string
  /** Host name or address of this engine in its local certificate, Contact and Via; null: the bound address. */
  readonly sipHost: string | null
  readonly rtpBind: string
  /** Address in SDP for peers outside of `localNetworks`; undefined: `rtpBind`. */
  readonly mediaAddress: string | undefined
  readonly localNetworks: readonly IpNetwork[]
  /** Host names that are resolved without the DNS. */
  readonly resolve: readonly ResolveEntry[]
  readonly rtpPorts: { readonly from: number; readonly to: number }
  /** UDP ports towards the browsers of web calls; null: any free ones. */
  readonly webPorts: { readonly from: number; readonly to: number } | null
  /** TURN and STUN servers of web calls; null: none. */
  readonly webRelay: WebRelay | null
  /** The LiveKit server of web calls; null: they are direct. */
  readonly liveKit: LiveKitAccess | null
  /** Undefined: native if the add-on is built, otherwise portable. */
  readonly packetIo: 'native' | 'portable' | undefined
  /** p99 of the lateness of sent audio packets above which the engine takes no new call. */
  readonly maxMediaLatenessMs: number
  /** Mean lateness of reading received audio above which the engine takes no new call. */
  readonly maxAudioReadLatenessMs: number
  /** Size limit of the recordings that are not uploaded yet, in bytes; above it no recording starts. */
  readonly spoolBytes: number
  /** Memory for the vectors of documents, in each process that searches them. */
  readonly knowledgeMiB: number
  /** Duration of a lease on a run, ms. It is renewed after a third of this time. */
  readonly leaseMs: number
  /** Time limit for live calls after SIGTERM, ms. */
  readonly drainMs: number
  /** Receives the SIP messages of calls by HEP version 3 over UDP; null: there is no export. */
  readonly captureServer: { readonly host: string; readonly port: number } | null
  /** Collector that takes the traces of runs; null: tracing is off. */
  readonly traceCollector: string | null
  /** Private addresses that HTTP actions, webhooks and alerts may reach. */
  readonly egressAllow: readonly { readonly host: string; readonly port: number }[]
  /** Takes the paging events of alerts: an events API of version 2. */
  readonly pagingUrl: string
  /** The vendors whose API key is set, and the local servers that are named, by vendor name. */
  readonly vendors: Readonly<Record<string, VendorAccess>>
  /** The server and the models of every vendor that needs a key, by name; environments may bring a key of their own. */
  readonly vendorServers: Readonly<Record<string, Omit<VendorAccess, 'apiKey'>>>
  /** Paths of PEM files; null: a certificate signed by a local authority under `home`. */
  readonly tlsFiles: { readonly cert: string; readonly key: string; readonly ca: string | null } | null
}

/** An environment variable with an invalid value; the message names the variable. */
export class SettingsError extends Error {}

const clientVariables = z.object({
  PARLEY_HOME: z.string().min(1).default('.parley'),
  PARLEY_API: httpUrl.transform(url => url.replace(/\/api\/v1$/, '')).optional(),
  PARLEY_KEY: key.optional(),
})

/** The settings of commands that use the API. A null value is taken from `demo.json` under `home`. */
export interface ClientSettings {
  readonly home: string
  /** Base URL without `/api/v1`. */
  readonly api: string | null
  readonly key: string | null
}

/** Throws as {@link readSettings} does. */
export function readClientSettings(environment: Readonly<Record<string, string | undefined>>): ClientSettings {
  const values = parseWith(clientVariables, environment)
  return { home: resolve(values.PARLEY_HOME), api: values.PARLEY_API ?? null, key: values.PARLEY_KEY ?? null }
}

function parseWith<Values extends z.ZodType>(
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

/** The environment variables that Parley reads, apart from those of vendors. */
export const SETTING_NAMES: readonly string[] = [
  ...Object.keys({ ...variables.shape, ...clientVariables.shape }),
  ...LOCAL_SERVERS.map(({ variable }) => variable),
  'PARLEY_DEBUG',
]

/** Names in `environment` that begin with PARLEY_ and are not settings: misspelt, or of another version. */
export function unknownSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment).filter(name => name.startsWith('PARLEY_') && !SETTING_NAMES.includes(name))
}

/** Throws `SettingsError`, which names every invalid variable and its valid values. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const vendorProblems: string[] = []
  const vendors = readVendorSettings(environment, vendorProblems)
  const values = parseWith(variables, environment, vendorProblems)
  const { PARLEY_TLS_CERT: cert, PARLEY_TLS_KEY: key, PARLEY_TLS_CA: ca } = values
  if ((cert === undefined) !== (key === undefined))
    throw new SettingsError('PARLEY_TLS_CERT and PARLEY_TLS_KEY: set both or neither')
  const webProblems: string[] = []
  const webRelay = webRelayOf(values, webProblems)
  const liveKit = liveKitOf(values, webProblems)
  if (webProblems.length > 0) throw new SettingsError(webProblems.join('\n'))
  const rtpBind = values.PARLEY_RTP_BIND ?? values.PARLEY_SIP_BIND
  const { PARLEY_MEDIA_ADDRESS: mediaAddress, PARLEY_LOCAL_NETS: localNetworks } = values
  if (rtpBind === '0.0.0.0' && (mediaAddress === undefined || localNetworks.length > 0))
    throw new SettingsError(
      mediaAddress === undefined
        ? 'PARLEY_RTP_BIND: peers cannot send to 0.0.0.0: set PARLEY_MEDIA_ADDRESS to the address that SDP should give, or bind one address'
        : 'PARLEY_RTP_BIND: with PARLEY_LOCAL_NETS set, it must be the address that local peers reach, not 0.0.0.0',
    )
  return {
    home: resolve(values.PARLEY_HOME),
    http: { bind: values.PARLEY_HTTP_BIND, port: values.PARLEY_HTTP_PORT },
    publicUrl: values.PARLEY_PUBLIC_URL ?? null,
    databaseUrl: values.DATABASE_URL ?? null,
    redisUrl: values.REDIS_URL ?? null,
    blobUrl: values.BLOB_URL ?? null,
    smtpUrl: values.SMTP_URL ?? null,
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
    webPorts: values.PARLEY_WEB_PORTS ?? null,
    webRelay,
    liveKit,
    packetIo: values.PARLEY_PACKET_IO,
    maxMediaLatenessMs: values.PARLEY_MEDIA_LATENESS_MS,
    maxAudioReadLatenessMs: values.PARLEY_AUDIO_READ_LATENESS_MS,
    spoolBytes: values.PARLEY_SPOOL_MIB * 1024 ** 2,
    knowledgeMiB: values.PARLEY_KNOWLEDGE_MIB,
    leaseMs: values.PARLEY_LEASE_MS,
    drainMs: values.PARLEY_DRAIN_MS,
    traceCollector: values.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    captureServer: values.PARLEY_HEP ?? null,
    egressAllow: values.PARLEY_EGRESS_ALLOW,
    pagingUrl: values.PARLEY_PAGING_URL,
    vendors,
    vendorServers: readVendorServers(environment),
    tlsFiles: cert === undefined || key === undefined ? null : { cert, key, ca: ca ?? null },
  }
}
