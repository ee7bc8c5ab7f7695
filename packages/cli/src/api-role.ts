import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildApi, handlers, linkDelivery, type Platform, smtpSender } from '@parley/control-plane'
import { isPermittedHost } from '@parley/egress'
import { systemTime, type TraceSink } from '@parley/kernel'
import type { KnowledgeSource } from '@parley/knowledge'
import { openFileBlobs } from '@parley/store'
import { LiveKitServer } from '@parley/webrtc'
import { pino } from 'pino'
import { ApiCatalogue } from './api-catalogue.ts'
import type { Settings } from './environment.ts'
import type { EnvironmentServices } from './environment-services.ts'
import { knowledgePort } from './knowledge-port.ts'
import { providerKeyCheck } from './provider-key-check.ts'
import type { Services } from './services.ts'
import { httpListenFault } from './start-faults.ts'
import type { ProcessState } from './state.ts'
import { browserIceServers } from './turn-settings.ts'
import { previewVoice } from './voice-preview.ts'

/** Made by `scripts/ensure.mjs` in a checkout, and part of a packed release. */
const WEB_SCRIPT = fileURLToPath(new URL('../../web/dist/parley-web.js', import.meta.url))
const CONSOLE = fileURLToPath(new URL('../../../console/dist', import.meta.url))

export interface ApiRole {
  /** Base URL on this machine. */
  readonly url: string
  /** URL of the console; null: it is not built. */
  readonly consoleUrl: string | null
  /** Sets the level of the log lines on standard error. */
  setLogLevel(level: 'info' | 'warn'): void
  /** `/readyz` answers 503 from now on; requests are still served. */
  drain(): void
  /** Stops listening; requests in progress are finished. */
  close(): Promise<void>
}

/** The SIP address of this process. `tlsPort` is updated once the engine listens. */
export interface SipAddress {
  readonly domain: string
  tlsPort: number
}

/** What the API gets from the other roles of this process. */
interface ApiRoleOptions {
  /** The services of each environment, with its own keys. */
  readonly environmentServices: Pick<EnvironmentServices, 'of'>
  /** Notifies the engines and workers of an admitted run. Default: nothing is sent, and a sweep finds the run. */
  readonly wake?: Platform['wake']
  /** Wakes a worker for work that is due. Default: a sweep finds it. */
  readonly due?: Platform['due']
  /** Searches the documents of environments. */
  readonly knowledge: KnowledgeSource
  /** Store of the recordings. Default: files under the home. */
  readonly blobs?: Platform['blobs']
  /** Level of the log lines on standard error; each request is a line of level info. Default info. */
  readonly logLevel?: 'info' | 'warn'
  /** Takes the spans of requests that admit runs. Default: tracing is off. */
  readonly trace?: TraceSink
  /** Metrics of the other roles, added to `/metrics`. */
  readonly otherMetrics?: () => Promise<string>
}

/** Starts the HTTP API. Throws `port_taken`, `listen_failed`. */
export async function startApi(
  settings: Settings,
  state: ProcessState,
  services: Services,
  sip: SipAddress,
  {
    environmentServices,
    wake = () => {},
    due = () => {},
    knowledge,
    blobs,
    otherMetrics,
    trace,
    logLevel = 'info',
  }: ApiRoleOptions,
): Promise<ApiRole> {
  let baseUrl = settings.publicUrl ?? ''
  const log = pino({ name: 'api', level: logLevel }, pino.destination({ dest: 2, sync: false }))
  const catalogue = await ApiCatalogue.open(services, systemTime)
  const platform: Platform = {
    catalogue: async (scope, db) => catalogue.of(await environmentServices.of(scope, db)),
    checkProviderKey: providerKeyCheck({ settings, egress: services.egress }),
    previewVoice: async (scope, request) => previewVoice(await environmentServices.of(scope), request),
    sealer: state.sealer,
    ...(trace !== undefined && { trace }),
    sip,
    allowsSipHost: host =>
      settings.resolve.some(({ name }) => name === host) || isPermittedHost(host, settings.egressAllow),
    allowsPlainHttp: url =>
      settings.egressAllow.some(({ host, port }) => host === url.hostname && port === Number(url.port || 80)),
    wake,
    links: linkDelivery({ sendMail: settings.smtpUrl === null ? null : smtpSender(settings.smtpUrl), log }),
    due,
    knowledge: knowledgePort(knowledge),
    blobs: blobs ?? (await openFileBlobs({ directory: join(settings.home, 'blobs') })),
    iceServers: (name, expiresAt) => browserIceServers(settings.webRelay, name, expiresAt),
    ...(settings.liveKit !== null && { webRooms: new LiveKitServer(settings.liveKit) }),
    baseUrl: () => baseUrl.replace(/\/+$/, ''),
    randomBytes,
    now: Date.now,
  }
  const { database, bus } = state
  const api = await buildApi({
    handlers,
    database,
    bus,
    platform,
    log,
    publicUrl: settings.publicUrl,
    consoleDirectory: CONSOLE,
    webScript: WEB_SCRIPT,
    ...(otherMetrics !== undefined && { otherMetrics }),
  })
  const { bind: host, port } = settings.http
  try {
    const url = await api.listen({ host, port })
    if (baseUrl === '') baseUrl = url
    return {
      url,
      consoleUrl: api.hasConsole ? `${baseUrl.replace(/\/+$/, '')}/console` : null,
      setLogLevel: level => {
        log.level = level
      },
      drain: () => api.drain(),
      async close() {
        catalogue.close()
        await api.close()
        log.flush()
      },
    }
  } catch (cause) {
    catalogue.close()
    await api.close()
    throw httpListenFault(cause, settings.http)
  }
}
