import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Ms, randomToken, systemRandom, systemTime } from '@parley/kernel'
import { KnowledgeSearch } from '@parley/knowledge'
import { BullConnections, BullEnvironmentQueue, BullRunQueue } from '@parley/runs'
import { openBlobs, type ProcessRole, parseBlobUrl } from '@parley/store'
import type { ApiRole, SipAddress } from './api-role.ts'
import type { Settings } from './environment.ts'
import { EnvironmentServices } from './environment-services.ts'
import { processIdentity } from './identity.ts'
import { problemLines } from './problem-lines.ts'
import { serveRoleHealth } from './role-health.ts'
import { RoleMetrics } from './role-metrics.ts'
import { RunAgents } from './run-agents.ts'
import { keepReplaying, runJournals } from './run-journals.ts'
import { Services } from './services.ts'
import { openState } from './state.ts'
import { openTracing } from './tracing.ts'
import { openDemoServers, type PhoneEvents } from './workspace/demo-servers.ts'
import type { DemoWorkspace } from './workspace/demo-workspace.ts'
import type { SeededAgent } from './workspace/seeded-agent.ts'

interface PlatformOptions {
  readonly roles: ReadonlySet<ProcessRole>
  /** Prints a line on standard output. */
  readonly printLine: (line: string) => void
  /** Level of the API's log lines on standard error; each request is a line of level info. Default info. */
  readonly logLevel?: 'info' | 'warn'
  /** Receives the calls of the built-in phone. */
  readonly phoneEvents?: PhoneEvents
}

export interface Platform {
  /** Null: this process does not serve the API. */
  readonly api: ApiRole | null
  /** Null: there is no API here, or the database has organisations other than Demo. */
  readonly workspace: DemoWorkspace | null
  readonly seeded: readonly SeededAgent[]
  /** The number of the built-in phone, E.164; null: there is none. */
  readonly phone: string | null
  /** How phones call this process; null: there is no engine here. */
  readonly sip: {
    /** SIP URI with an inbound token as its user part. */
    readonly uri: (token: string) => string
    readonly lineToken: string
    /** PEM file of the certificate authority that phones must trust; null: a public authority. */
    readonly authorityFile: string | null
  } | null
  /** `/readyz` answers 503 and new calls are refused; resolves when the last call ends, or after `withinMs`. */
  drain(withinMs: Ms): Promise<void>
  /** Ends live calls and closes everything. Idempotent. */
  close(): Promise<void>
}

/** Starts the roles in this process. Closes everything again if one of them fails to start. */
export async function startPlatform(settings: Settings, options: PlatformOptions): Promise<Platform> {
  const closers: Closers = []
  const close = async () => {
    // The reverse of the order of opening: a part closes before the parts that it uses.
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    const shared = await openSharedParts(settings, options, closers)
    return { ...(await startRoles(shared, options, closers)), close }
  } catch (error) {
    await close()
    throw error
  }
}

type Closers = (() => Promise<void>)[]

type SharedParts = Awaited<ReturnType<typeof openSharedParts>>

/** Opens everything that several roles use. */
async function openSharedParts(given: Settings, { roles, printLine, phoneEvents }: PlatformOptions, closers: Closers) {
  const demoServers = await openDemoServers(given, {
    phone: roles.has('engine'),
    ...(phoneEvents !== undefined && { phoneEvents }),
  })
  closers.push(() => demoServers.close())
  const { settings } = demoServers
  const services = new Services(settings)
  closers.push(() => services.close())
  const state = await openState(settings, roles, printLine)
  closers.push(() => state.close())
  const { database, sealer } = state
  const environmentServices = new EnvironmentServices({ services, settings, database, sealer, time: systemTime })
  closers.push(() => environmentServices.close())
  const tracing =
    settings.traceCollector === null
      ? null
      : await openTracing(settings.traceCollector, `parley-${[...roles].join('-')}`)
  if (tracing !== null) closers.push(() => tracing.close())
  const connections = new BullConnections({
    on: settings.redisUrl === null ? { postgres: state.ownerUrl } : { redis: settings.redisUrl },
    wallClock: Date.now,
    onProblem: printLine,
  })
  closers.push(() => connections.close())
  const knowledge = new KnowledgeSearch({
    database: state.database,
    embedders: (model, scope) => environmentServices.embedder(model, scope),
    maxVectorMiB: settings.knowledgeMiB,
  })
  closers.push(() => knowledge.close())
  const blobUrl = settings.blobUrl ?? pathToFileURL(join(settings.home, 'blobs')).href
  const journals = runJournals(settings.home, state.sealer)
  // A process with the API alone owns no runs.
  if (roles.has('engine') || roles.has('worker')) closers.push(keepReplaying(journals, state))
  const sip: SipAddress = { domain: settings.sipDomain, tlsPort: settings.sipTlsPort }
  return {
    settings,
    demoServers,
    services,
    environmentServices,
    state,
    knowledge,
    runQueue: new BullRunQueue(connections, Date.now),
    environmentQueue: new BullEnvironmentQueue(connections),
    blobs: await openBlobs(blobUrl),
    blobsAreFiles: parseBlobUrl(blobUrl).kind === 'files',
    identity: await processIdentity(settings),
    agents: new RunAgents(environmentServices, database, sealer, knowledge),
    metrics: new RoleMetrics(),
    tracing,
    lineToken: await inboundToken(settings, 'inbound-token-line'),
    journals,
    sip,
    printLine,
  }
}

/** Starts the roles. The modules of a role are loaded only where it runs: a process with one role starts sooner and takes less memory. */
async function startRoles(
  shared: SharedParts,
  { roles, logLevel = 'info' }: PlatformOptions,
  closers: Closers,
): Promise<Omit<Platform, 'close'>> {
  const { settings, sip, lineToken, identity } = shared
  const engine = roles.has('engine') ? await (await import('./engine-role.ts')).startEngineRole(settings, shared) : null
  if (engine !== null) {
    closers.push(() => engine.close())
    sip.tlsPort = engine.tlsPort
  }
  const worker = roles.has('worker') ? await (await import('./worker-role.ts')).startWorkerRole(settings, shared) : null
  if (worker !== null) closers.push(() => worker.close())
  const served = roles.has('api') ? await serveApi(shared, logLevel) : null
  if (served !== null) closers.push(() => served.api.close())
  // The agents of the demo workspace may be new.
  if (engine !== null && served !== null && served.seeded.length > 0) await prepare(shared)
  let isDraining = false
  if (served === null) await serveHealth(shared, () => isDraining, closers)
  return {
    api: served?.api ?? null,
    workspace: served?.workspace ?? null,
    seeded: served?.seeded ?? [],
    phone: served?.workspace === null ? null : (shared.demoServers.phone?.number ?? null),
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
  }
}

async function prepare({ state, environmentServices }: SharedParts): Promise<void> {
  const { database } = state
  const { prepareAgents } = await import('./prepare-agents.ts')
  return prepareAgents({ database, environmentServices, time: systemTime, onProblem: problemLines('engine') })
}

/** Serves health and metrics in a process without the API. */
async function serveHealth(
  { settings, metrics, state, printLine }: SharedParts,
  isDraining: () => boolean,
  closers: Closers,
): Promise<void> {
  metrics.watchProcess()
  const health = await serveRoleHealth({
    ...settings.http,
    database: state.database,
    registry: metrics.registry,
    isDraining,
  })
  closers.push(() => health.close())
  printLine(`Health and metrics are at ${health.url}.`)
}

/** Starts the API and seeds the demo workspace through it. */
async function serveApi(shared: SharedParts, logLevel: 'info' | 'warn') {
  const {
    settings,
    state,
    services,
    environmentServices,
    sip,
    runQueue,
    environmentQueue,
    knowledge,
    blobs,
    metrics,
    tracing,
  } = shared
  const { startApi } = await import('./api-role.ts')
  const api = await startApi(settings, state, services, sip, {
    environmentServices,
    wake: work => runQueue.wake(work),
    due: (work, scope) => environmentQueue.wake(work, scope),
    knowledge,
    blobs,
    // Requests of seeding are not logged.
    logLevel: 'warn',
    otherMetrics: () => metrics.registry.metrics(),
    ...(tracing !== null && { trace: tracing.onSpan }),
  })
  try {
    const seeded = await seededWorkspace(shared, api.url)
    api.setLogLevel(logLevel)
    return { api, ...seeded }
  } catch (error) {
    await api.close()
    throw error
  }
}

/** The workspace Demo with its agents; null if the database has other organisations only. */
async function seededWorkspace({ settings, state, services, demoServers, printLine }: SharedParts, apiUrl: string) {
  const { home } = settings
  const { demoWorkspace } = await import('./workspace/demo-workspace.ts')
  const workspace = await demoWorkspace(home, state.ownerUrl, apiUrl)
  if (workspace === null) {
    printLine(`The API is at ${apiUrl}. The database has organisations already, so no demo workspace is created.`)
    return { workspace, seeded: [] }
  }
  const { origin } = demoServers.examples
  const { seedExamples } = await import('./workspace/seed-examples.ts')
  const seeded = await seedExamples(home, workspace.client, services, origin, printLine, { webhooks: true })
  return { workspace, seeded }
}

/** Shown with the SIP address of the line test. */
export const LINE_TEST = 'Line test (reads back the digits that you press, echoes two seconds of speech)'

/** The token in the file `name` of the home, generated on first use: the user part of a SIP address that nobody can guess. */
async function inboundToken(settings: Settings, name: string): Promise<string> {
  const file = join(settings.home, name)
  const known = await readFile(file, 'utf8').catch(() => '')
  if (/^[a-z2-7]{26}$/.test(known.trim())) return known.trim()
  const token = randomToken(systemRandom, 26)
  await writeFile(file, `${token}\n`, { mode: 0o600 })
  return token
}
