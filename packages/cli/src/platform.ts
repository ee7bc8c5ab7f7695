import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Ms, randomToken, systemRandom } from '@parley/kernel'
import { BullConnections, BullEnvironmentQueue, BullRunQueue } from '@parley/runs'
import { type Blobs, openBlobs, parseBlobUrl } from '@parley/store'
import { type ApiRole, type SipAddress, startApi } from './api-role.ts'
import { type EngineRole, startEngineRole } from './engine-role.ts'
import type { Settings } from './environment.ts'
import { type ProcessIdentity, processIdentity } from './identity.ts'
import { type RoleHealth, serveRoleHealth } from './role-health.ts'
import { RoleMetrics } from './role-metrics.ts'
import { RunAgents } from './run-agents.ts'
import { keepReplaying, runJournals } from './run-journals.ts'
import { Services } from './services.ts'
import { openState } from './state.ts'
import { startWorkerRole, type WorkerRole } from './worker-role.ts'
import { type DemoWorkspace, demoWorkspace } from './workspace/demo-workspace.ts'
import { type Neighbours, openNeighbours } from './workspace/neighbours.ts'
import { seedExamples } from './workspace/seed-examples.ts'
import type { SeededAgent } from './workspace/seeded-agent.ts'

export const ROLES = ['api', 'worker', 'engine'] as const
export type RoleName = (typeof ROLES)[number]

interface PlatformOptions {
  readonly roles: ReadonlySet<RoleName>
  /** A line for people. */
  readonly tell: (line: string) => void
  /** Of the API's lines on standard error, each request one of level info; default info. */
  readonly logLevel?: 'info' | 'warn'
  /** What the built-in phone tells of its calls. */
  readonly phoneTold?: Parameters<typeof openNeighbours>[1]['told']
}

export interface Platform {
  /** Null: this process serves no API. */
  readonly api: ApiRole | null
  /** Null: no API here, or the database has organisations of its own. */
  readonly workspace: DemoWorkspace | null
  readonly seeded: readonly SeededAgent[]
  /** The number behind which the built-in phone answers; null: there is none. */
  readonly phone: string | null
  /** Calls by SIP; null: no engine here. */
  readonly sip: {
    /** The address of whoever knows the token. */
    readonly uri: (token: string) => string
    readonly lineToken: string
    /** Whose certificates phones must trust; null: public authorities'. */
    readonly authorityFile: string | null
  } | null
  /** Not ready, no new calls; resolves when the last call is over, or after `withinMs`. */
  drain(withinMs: Ms): Promise<void>
  /** Ends what is left and leaves nothing open. Idempotent. */
  close(): Promise<void>
}

/** Opens what the roles need, in this process. Throws with nothing left open. */
export async function startPlatform(given: Settings, options: PlatformOptions): Promise<Platform> {
  const closers: (() => Promise<void>)[] = []
  // The last opened is closed first: nobody loses what it stands on.
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    return await opened(given, options, closers, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function opened(
  given: Settings,
  { roles, tell, phoneTold, logLevel = 'info' }: PlatformOptions,
  closers: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<Platform> {
  const neighbours = await openNeighbours(given, {
    phone: roles.has('engine'),
    ...(phoneTold !== undefined && { told: phoneTold }),
  })
  closers.push(() => neighbours.close())
  const { settings } = neighbours
  const services = new Services(settings)
  closers.push(() => services.close())
  const state = await openState(settings, tell)
  closers.push(() => state.close())
  const connections = new BullConnections({
    on: settings.redisUrl === null ? { postgres: state.ownerUrl } : { redis: settings.redisUrl },
    wallClock: Date.now,
    onProblem: tell,
  })
  closers.push(() => connections.close())
  const runQueue = new BullRunQueue(connections, Date.now)
  const environmentQueue = new BullEnvironmentQueue(connections)
  const blobUrl = settings.blobUrl ?? pathToFileURL(join(settings.home, 'blobs')).href
  const blobs = await openBlobs(blobUrl)
  const identity = await processIdentity(settings)
  const agents = new RunAgents(services, state.database, state.sealer)
  const metrics = new RoleMetrics()
  const journals = runJournals(settings.home, state.sealer)
  // An API alone holds no runs.
  if (roles.has('engine') || roles.has('worker')) closers.push(keepReplaying(journals, state))
  const shared = { state, services, agents, identity, runQueue, environmentQueue, blobs, journals, metrics }
  const sip: SipAddress = { domain: settings.sipDomain, tlsPort: settings.sipTlsPort }

  const lineToken = await inboundToken(settings, 'inbound-token-line')
  let engine: EngineRole | null = null
  if (roles.has('engine')) {
    engine = await startEngineRole(settings, {
      ...shared,
      blobsAreFiles: parseBlobUrl(blobUrl).kind === 'files',
      lineToken,
      tell,
    })
    closers.push(() => engine!.close())
    sip.tlsPort = engine.tlsPort
  }
  let worker: WorkerRole | null = null
  if (roles.has('worker')) {
    worker = await startWorkerRole(settings, shared)
    closers.push(() => worker!.close())
  }
  const served = roles.has('api') ? await serveApi(settings, { ...shared, logLevel }, neighbours, sip, tell) : null
  if (served !== null) closers.push(() => served.api.close())
  let isDraining = false
  if (served === null) metrics.watchProcess()
  const health: RoleHealth | null =
    served === null
      ? await serveRoleHealth({
          ...settings.http,
          database: state.database,
          registry: metrics.registry,
          isDraining: () => isDraining,
        })
      : null
  if (health !== null) {
    closers.push(() => health.close())
    tell(`Health and metrics are at ${health.url}.`)
  }
  return {
    api: served?.api ?? null,
    workspace: served?.workspace ?? null,
    seeded: served?.seeded ?? [],
    phone: served?.workspace === null ? null : (neighbours.phone?.number ?? null),
    sip:
      engine === null
        ? null
        : {
            uri: token => `sip:${token}@${sip.domain}:${sip.tlsPort};transport=tls`,
            lineToken,
            authorityFile: identity.authorityFile,
          },
    async drain(withinMs) {
      isDraining = true
      served?.api.drain()
      await Promise.all([engine?.drain(withinMs), worker?.drain(withinMs)])
    },
    close,
  }
}

type Shared = {
  readonly state: Awaited<ReturnType<typeof openState>>
  readonly services: Services
  readonly runQueue: BullRunQueue
  readonly blobs: Blobs
  readonly identity: ProcessIdentity
  readonly metrics: RoleMetrics
}

/** The API, and the workspace in its database. */
async function serveApi(
  settings: Settings,
  { state, services, runQueue, blobs, metrics, logLevel }: Shared & Required<Pick<PlatformOptions, 'logLevel'>>,
  neighbours: Neighbours,
  sip: SipAddress,
  tell: (line: string) => void,
) {
  const api = await startApi(settings, state, services, sip, {
    wake: work => runQueue.wake(work),
    blobs,
    // What seeding asks for is nobody's request.
    logLevel: 'warn',
    otherMetrics: () => metrics.registry.metrics(),
  })
  try {
    const seeded = await seededWorkspace(settings, { state, services, neighbours, tell }, api.url)
    api.setLogLevel(logLevel)
    return { api, ...seeded }
  } catch (error) {
    await api.close()
    throw error
  }
}

/** The workspace Demo with its agents; nothing on a platform in use. */
async function seededWorkspace(
  { home }: Settings,
  {
    state,
    services,
    neighbours,
    tell,
  }: Pick<Shared, 'state' | 'services'> & {
    readonly neighbours: Neighbours
    readonly tell: (line: string) => void
  },
  apiUrl: string,
) {
  const workspace = await demoWorkspace(home, state.ownerUrl, apiUrl)
  if (workspace === null) {
    tell(`The API is at ${apiUrl}. The database has organisations of its own: no workspace is seeded.`)
    return { workspace, seeded: [] }
  }
  const { origin } = neighbours.examples
  const seeded = await seedExamples(home, workspace.client, services, origin, tell, { webhooks: true })
  return { workspace, seeded }
}

export const LINE_TEST = 'a line test: reads back digits, echoes two seconds'

/** The unguessable user part of an address stays the same over restarts. */
async function inboundToken(settings: Settings, name: string): Promise<string> {
  const file = join(settings.home, name)
  const known = await readFile(file, 'utf8').catch(() => '')
  if (/^[a-z2-7]{26}$/.test(known.trim())) return known.trim()
  const token = randomToken(systemRandom, 26)
  await writeFile(file, `${token}\n`, { mode: 0o600 })
  return token
}
