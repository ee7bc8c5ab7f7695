import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { buildApi, handlers, type Platform } from '@parley/control-plane'
import { systemTime } from '@parley/kernel'
import { openFileBlobs } from '@parley/store'
import { pino } from 'pino'
import { ApiCatalogue } from './api-catalogue.ts'
import type { Settings } from './environment.ts'
import type { Services } from './services.ts'
import { httpListenFault } from './start-faults.ts'
import type { ProcessState } from './state.ts'

export interface ApiRole {
  /** Base URL on this machine. */
  readonly url: string
  /** Of its lines on standard error from now on. */
  setLogLevel(level: 'info' | 'warn'): void
  /** Not ready from now on, and served as before. */
  drain(): void
  /** Not ready at once; requests under way are finished. */
  close(): Promise<void>
}

/** Where phones and carriers reach this process; the port is known for certain once the engine listens. */
export interface SipAddress {
  readonly domain: string
  tlsPort: number
}

/** What other roles of this process share with the API. */
interface ApiNeighbours {
  /** Wakes whoever runs what was admitted. Default: nobody is woken, sweeps find it. */
  readonly wake?: Platform['wake']
  /** Where recordings are. Default: files in the home. */
  readonly blobs?: Platform['blobs']
  /** Of its lines on standard error, each request one of level info. Default info. */
  readonly logLevel?: 'info' | 'warn'
  /** Figures of the other roles, for `/metrics`. */
  readonly otherMetrics?: () => Promise<string>
}

/** Serves the API until it is closed. Throws `port_taken`, `listen_failed`. */
export async function startApi(
  settings: Settings,
  state: ProcessState,
  services: Services,
  sip: SipAddress,
  { wake = () => {}, blobs, otherMetrics, logLevel = 'info' }: ApiNeighbours = {},
): Promise<ApiRole> {
  let baseUrl = settings.publicUrl ?? ''
  const catalogue = await ApiCatalogue.open(services, systemTime)
  const platform: Platform = {
    catalogue: () => catalogue.current,
    sealer: state.sealer,
    sip,
    allowsPlainHttp: url =>
      settings.egressAllow.some(({ host, port }) => host === url.hostname && port === Number(url.port || 80)),
    wake,
    blobs: blobs ?? (await openFileBlobs({ directory: join(settings.home, 'blobs') })),
    baseUrl: () => baseUrl.replace(/\/+$/, ''),
    randomBytes,
    now: Date.now,
  }
  const log = pino({ name: 'api', level: logLevel }, pino.destination({ dest: 2, sync: false }))
  const { database, bus } = state
  const api = await buildApi({
    handlers,
    database,
    bus,
    platform,
    log,
    publicUrl: settings.publicUrl,
    ...(otherMetrics !== undefined && { otherMetrics }),
  })
  const { bind: host, port } = settings.http
  try {
    const url = await api.listen({ host, port })
    if (baseUrl === '') baseUrl = url
    return {
      url,
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
