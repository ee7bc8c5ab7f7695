import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ParleyClient } from '@parley/client'
import { Engine, type EngineOptions, type InboundRoute } from '@parley/engine'
import { ParleyError, randomToken, systemRandom } from '@parley/kernel'
import { type SipAddress, startApi } from '../api-role.ts'
import { type ClientSettings, readClientSettings, readSettings, type Settings, SettingsError } from '../environment.ts'
import { describeEvent } from '../event-lines.ts'
import { addressOf } from '../example-agent.ts'
import { type ProcessIdentity, processIdentity, watchIdentity } from '../identity.ts'
import { nextSignal } from '../next-signal.ts'
import { overridesOf } from '../resolve-entries.ts'
import { Services } from '../services.ts'
import { openState } from '../state.ts'
import { parseCommand, UsageError } from '../usage.ts'
import { readDemoFile, writeDemoFile } from '../workspace/demo-file.ts'
import { type DemoWorkspace, demoWorkspace } from '../workspace/demo-workspace.ts'
import { openExampleServer, seedExamples } from '../workspace/seed-examples.ts'
import type { SeededAgent } from '../workspace/seeded-agent.ts'

const USAGE = 'parley serve [--role api,engine]'

const ROLES = ['api', 'engine'] as const
type RoleName = (typeof ROLES)[number]

/** Runs until SIGINT or SIGTERM: then live calls are ended and nothing stays open. */
export async function serve(args: string[]): Promise<number> {
  const { values } = parseCommand(args, { role: { type: 'string', default: ROLES.join(',') } }, USAGE)
  const roles = rolesOf(values.role)
  const settings = readSettings(process.env)
  await mkdir(settings.home, { recursive: true, mode: 0o700 })
  const closers: (() => Promise<void>)[] = []
  try {
    await started(settings, roles, closers)
    const signal = await nextSignal()
    tell(`${signal}: ending`)
    return 0
  } finally {
    // The last opened is closed first: nobody loses what it stands on.
    for (const close of closers.reverse()) await close()
  }
}

const tell = (line: string) => void process.stdout.write(`${line}\n`)

function rolesOf(text: string): ReadonlySet<RoleName> {
  const named = text.split(',').map(role => role.trim())
  for (const role of named)
    if (!ROLES.some(known => known === role))
      throw new UsageError(`--role: there is no role "${role}"; there are ${ROLES.join(' and ')}`)
  return new Set(named as RoleName[])
}

/** Opens what the roles need; each thing opened leaves how to close it. */
async function started(
  settings: Settings,
  roles: ReadonlySet<RoleName>,
  closers: (() => Promise<void>)[],
): Promise<void> {
  const examples = await openExampleServer(settings.home)
  closers.push(() => examples.close())
  const services = new Services(settings, { egressAllow: [addressOf(examples)] })
  closers.push(() => services.close())
  const sip: SipAddress = { domain: settings.sipDomain, tlsPort: settings.sipTlsPort }
  const workspace = await (roles.has('api')
    ? servedWorkspace(settings, services, sip, closers)
    : distantWorkspace(readClientSettings(process.env)))
  const seeded =
    workspace === null ? [] : await seedExamples(settings.home, workspace.client, services, examples.origin, tell)
  const identity = await processIdentity(settings)
  const line = await lineTest(settings)
  if (roles.has('engine')) {
    const routes = [...(await routesTo(seeded, services)), line]
    const engine = await startEngine(settings, identity, services, routes)
    closers.push(engine.close)
    sip.tlsPort = engine.tlsPort
  }
  await announce(settings, {
    workspace,
    uri: token => `sip:${token}@${sip.domain}:${sip.tlsPort};transport=tls`,
    lineToken: line.token,
    seeded,
    authorityFile: roles.has('engine') ? identity.authorityFile : null,
    roles,
  })
}

/** The API of this process, and the workspace in its database. */
async function servedWorkspace(
  settings: Settings,
  services: Services,
  sip: SipAddress,
  closers: (() => Promise<void>)[],
): Promise<Workspace | null> {
  const state = await openState(settings, tell)
  closers.push(() => state.close())
  const api = await startApi(settings, state, services, sip)
  closers.push(() => api.close())
  const demo = await demoWorkspace(settings.home, state.ownerUrl, api.url)
  if (demo === null)
    tell(`The API is at ${api.url}. The database has organisations of its own: no workspace is seeded.`)
  return demo && { ...demo, api: api.url }
}

/** That of an API elsewhere, which PARLEY_API and PARLEY_KEY name, or `demo.json`. */
async function distantWorkspace(client: ClientSettings): Promise<Workspace> {
  const demo = await readDemoFile(client.home)
  const api = client.api ?? demo?.api ?? null
  const key = client.key ?? demo?.key ?? null
  if (api === null || key === null)
    throw new SettingsError(
      'PARLEY_API and PARLEY_KEY: an engine of its own needs the API that says who answers its calls',
    )
  return { api, key, client: new ParleyClient({ baseUrl: api, key }) }
}

interface Workspace extends DemoWorkspace {
  readonly api: string
}

/** Answers where it listens, and how to end it: live calls are hung up. */
async function startEngine(
  settings: Settings,
  identity: ProcessIdentity,
  services: Services,
  routes: readonly InboundRoute[],
): Promise<{ readonly tlsPort: number; readonly close: () => Promise<void> }> {
  const recordings = join(settings.home, 'recordings')
  await mkdir(recordings, { recursive: true })
  const engine = await Engine.start({
    station: stationOptions(settings, identity),
    routes,
    voice: services.voice('local/flite'),
    language: 'en',
    recordingPath: id => join(recordings, `${id}.wav`),
    onEvent: (call, event) => {
      const line = describeEvent(event)
      if (line !== null) tell(`${call.leg.callId.slice(0, 12)}  ${line}`)
    },
  })
  const unwatch = watchIdentity(identity, engine.station, tell)
  return {
    tlsPort: engine.station.port('tls'),
    async close() {
      unwatch()
      await engine.close()
    },
  }
}

/** What is not ready on this machine is left out, and said. */
async function routesTo(seeded: readonly SeededAgent[], services: Services): Promise<InboundRoute[]> {
  const routes: InboundRoute[] = []
  for (const { plan, agentId, version, sip } of seeded) {
    try {
      const agent = await services.agent(plan, { id: agentId, version })
      routes.push({ name: plan.name, token: tokenOf(sip), security: 'srtp-required', agent })
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error
      tell(`Nobody answers ${sip}: ${error.message}`)
    }
  }
  return routes
}

function tokenOf(sip: string): string {
  return sip.slice('sip:'.length, sip.indexOf('@'))
}

async function lineTest(settings: Settings): Promise<InboundRoute> {
  return { name: LINE_TEST, token: await inboundToken(settings, 'inbound-token-line'), security: 'srtp-required' }
}

const LINE_TEST = 'a line test: reads back digits, echoes two seconds'

function stationOptions(settings: Settings, identity: ProcessIdentity): EngineOptions['station'] {
  return {
    bind: settings.sipBind,
    udpPort: settings.sipPort,
    tcpPort: settings.sipPort,
    tlsPort: settings.sipTlsPort,
    ...(settings.sipHost !== null && { advertisedHost: settings.sipHost }),
    tls: identity.tls,
    overrides: overridesOf(settings.resolve),
    rtp: {
      bind: settings.rtpBind,
      announcedAddress: settings.mediaAddress,
      localNetworks: settings.localNetworks,
      ports: settings.rtpPorts,
      packetIo: settings.packetIo,
    },
    userAgentName: 'Parley',
    log: (level, event, detail) => {
      if (level !== 'debug') process.stderr.write(`${level} ${event} ${JSON.stringify(detail)}\n`)
    },
  }
}

interface Started {
  readonly workspace: Workspace | null
  readonly seeded: readonly SeededAgent[]
  /** The address of whoever knows the token. */
  readonly uri: (token: string) => string
  readonly lineToken: string
  readonly authorityFile: string | null
  readonly roles: ReadonlySet<RoleName>
}

async function announce(settings: Settings, started: Started): Promise<void> {
  const { workspace, seeded, uri, authorityFile, roles } = started
  const line = uri(started.lineToken)
  const calls = seeded.map(({ plan, sip }) => [plan.name, uri(tokenOf(sip))] as const)
  const [first] = seeded
  await writeDemoFile(settings.home, {
    api: workspace?.api ?? null,
    key: workspace?.key ?? null,
    console: null,
    sip: calls[0]?.[1] ?? line,
    agent_id: first?.agentId ?? null,
    number: first?.number ?? null,
    phone: null,
  })
  const addresses = [...calls, [LINE_TEST, line] as const]
  tell(
    [
      ...(workspace === null ? [] : aboutApi(workspace)),
      ...(roles.has('engine') ? aboutCalls(settings, addresses, authorityFile) : []),
      READY,
      '',
    ].join('\n'),
  )
}

/** The last line of a start, which scripts wait for. */
const READY = 'Parley is ready.'

function aboutApi({ api, key }: Workspace): string[] {
  return [
    `API            ${api}/api/v1   (reference ${api}/docs, tools ${api}/mcp)`,
    `admin key      ${key}`,
    '',
    'The agents of the workspace:',
    `  curl -H 'Authorization: Bearer ${key}' ${api}/api/v1/agents`,
    '',
  ]
}

function aboutCalls(
  settings: Settings,
  addresses: readonly (readonly [about: string, uri: string])[],
  authorityFile: string | null,
): string[] {
  return [
    'Call with any phone that speaks SIP over TLS with SRTP (SDES, PCMU or PCMA):',
    '',
    ...addresses.flatMap(([about, uri]) => [`  ${about}`, `  ${uri}`, '']),
    "The built-in recogniser hears only Parley's own phone; with any other phone, go through the clinic by its keys (press 1).",
    '',
    `  certificate authority  ${authorityFile ?? 'a public one'}`,
    `  recordings             ${join(settings.home, 'recordings')}`,
    '',
    `No phone at hand?  npx parley call '${addresses[0]![1]}' --say 'I would like to book an appointment.'`,
    '',
  ]
}

/** The unguessable user part of an address stays the same over restarts. */
async function inboundToken(settings: Settings, name: string): Promise<string> {
  const file = join(settings.home, name)
  const known = await readFile(file, 'utf8').catch(() => '')
  if (/^[a-z2-7]{26}$/.test(known.trim())) return known.trim()
  const token = randomToken(systemRandom, 26)
  await writeFile(file, `${token}\n`, { mode: 0o600 })
  return token
}
