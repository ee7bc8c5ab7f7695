import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ParleyClient } from '@parley/client'
import type { Scope } from '@parley/contract'
import { type Draft, readDraft } from '@parley/flow'
import type { NumberRuleInput } from '@parley/loadtest'
import { ensureLocalCertificate } from '@parley/sip'
import {
  asStaff,
  attachEmbeddedPostgres,
  installRateCard,
  type StaffSetting,
  setEnvironment,
  setTrunkDetails,
  staffScope,
} from '@parley/store'
import type { RateCard } from '@parley/store/testing'
import { Pool } from 'pg'
import { freePeerPorts, rtpRange } from '../../../interop/ports.ts'
import { temporaryHome } from '../../../interop/serving.ts'
import { readDemoFile } from '../../../packages/cli/src/workspace/demo-file.ts'
import { editsFor } from '../../../packages/cli/src/workspace/draft-edits.ts'
import { CarrierProcess } from './carrier-process.ts'
import { RolesProcess } from './roles-process.ts'

/** How calls are signalled and carried between us and the carrier. */
export const LINES = ['udp', 'tls'] as const
export type Line = (typeof LINES)[number]

/** By line, what the carrier's callers dial, and what our calls show. */
export const CALLED: Readonly<Record<Line, string>> = { udp: '+12025550151', tls: '+12025550152' }

const ACCOUNT = { username: 'parley', password: 'correct horse battery staple' }
const REALM = 'carrier.example'
/** Of what a process with an API prints when it is ready. */
const API_LINE = /^API +(\S+)\/api\/v1 /m

/** Sessions that wait for this one, directly or through others. */
const WAITERS_ENDED = `
  with recursive waiting(pid) as (
    select pg_backend_pid()
    union select a.pid from pg_stat_activity a join waiting w on w.pid = any(pg_blocking_pids(a.pid))
  ) select pg_terminate_backend(pid, 5000) from waiting where pid <> pg_backend_pid()`

interface CallHarnessOptions {
  /**
   * Of each process: `api,worker` and `engine`, say. The first outlives the others, for it has the database; those with an
   * engine come last.
   */
  readonly processes: readonly string[]
  /** What the carrier does, by number called. */
  readonly numbers: readonly NumberRuleInput[]
  /** Default both. Each has a carrier, for media are plain or secure for a whole carrier. */
  readonly lines?: readonly Line[]
  readonly env?: Readonly<Record<string, string>>
  /** One that is migrated and empty; default: the first process brings one along. */
  readonly database?: HarnessDatabase
  /** Of the carrier; default it takes REFERs. */
  readonly transfers?: 'take' | number
  /** RTP ports of the one engine; default, of each: room for 50 calls. */
  readonly rtpPorts?: string
  readonly play?: 'silence' | 'tone'
  /** Path of the program that the processes run, of another version say; default this checkout's `parley`. */
  readonly program?: string
}

/** Owner's URLs: that of the processes, which may lead over a relay, and that of the harness. */
interface HarnessDatabase {
  readonly url: string
  readonly ownerUrl: string
}

/** A process with an engine. */
export interface HarnessEngine {
  readonly process: RolesProcess
  /** SIP over TLS; UDP and TCP are one below. No other process has it. */
  readonly tlsPort: number
}

/** A platform in processes, one or two trunks to carriers that keep ledgers, and ways to look into all of it. */
export class CallHarness {
  readonly carriers: ReadonlyMap<Line, CarrierProcess>
  readonly #processes: RolesProcess[]
  readonly #directory: string
  readonly #removals: (() => unknown)[]
  readonly #home: string
  #owner: Pool | null = null
  #ownerUrl = ''
  #client: ParleyClient | null = null
  #scope: Scope | null = null
  #demo: { readonly url: string; readonly key: string } | null = null
  /** By line: who calls there is let in. */
  readonly #tokens = new Map<Line, string>()
  readonly #engines: readonly HarnessEngine[]
  readonly #environment: Readonly<Record<string, string>>

  private constructor(
    carriers: ReadonlyMap<Line, CarrierProcess>,
    parts: {
      readonly processes: RolesProcess[]
      readonly engines: readonly HarnessEngine[]
      readonly environment: Readonly<Record<string, string>>
      readonly home: string
      readonly directory: string
      readonly removals: (() => unknown)[]
    },
  ) {
    this.carriers = carriers
    this.#processes = parts.processes
    this.#engines = parts.engines
    this.#environment = parts.environment
    this.#home = parts.home
    this.#directory = parts.directory
    this.#removals = parts.removals
  }

  static async open(options: CallHarnessOptions): Promise<CallHarness> {
    const removals: (() => unknown)[] = []
    const home = temporaryHome(removal => void removals.push(() => removal({ task: {} })))
    const directory = mkdtempSync(join(tmpdir(), 'parley-proof.'))
    const { caPath } = await ensureLocalCertificate(home)
    const opened = await Promise.allSettled(
      (options.lines ?? LINES).map(line => openCarrier(line, caPath, directory, options)),
    )
    const there = opened.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
    const carriers = new Map(there.map(({ line, carrier }) => [line, carrier]))
    const environment = {
      PARLEY_HOME: home,
      PARLEY_HTTP_PORT: '0',
      PARLEY_SIP_DOMAIN: '127.0.0.1',
      PARLEY_RESOLVE: there.map(({ entry }) => entry).join(','),
      ...(options.database && { DATABASE_URL: options.database.url }),
      ...options.env,
    }
    const { processes, engines } = await processesOf(options, environment)
    const harness = new CallHarness(carriers, { processes, engines, environment, home, directory, removals })
    try {
      for (const one of opened) if (one.status === 'rejected') throw one.reason
      await harness.#begin(options)
      return harness
    } catch (error) {
      await harness.close()
      throw error
    }
  }

  get client(): ParleyClient {
    return this.#client!
  }

  /** `PARLEY_HOME` of all processes. */
  get home(): string {
    return this.#home
  }

  /** Base URL of the API. */
  get url(): string {
    return this.#demo!.url
  }

  /** The admin key of the workspace. */
  get key(): string {
    return this.#demo!.key
  }

  get scope(): Scope {
    return this.#scope!
  }

  /** The process whose roles begin with the API. */
  get api(): RolesProcess {
    return this.#processes[0]!
  }

  /** The only engine's process. */
  get engine(): RolesProcess {
    return this.#engines[0]!.process
  }

  get engines(): readonly HarnessEngine[] {
    return this.#engines
  }

  get processes(): readonly RolesProcess[] {
    return this.#processes
  }

  /** Whom the carrier calls; `engine`: where there are several. */
  inboundUri(line: Line, engine: HarnessEngine = this.#engines[0]!): string {
    const port = line === 'tls' ? engine.tlsPort : engine.tlsPort - 1
    return `sip:${this.#tokens.get(line)!}@127.0.0.1:${port};transport=${line}`
  }

  carrier(line: Line): CarrierProcess {
    return this.carriers.get(line)!
  }

  /** As the tables' owner, past every policy. */
  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#owner!.query(text, [...values])).rows as Row[]
  }

  /**
   * Keeps everybody else from writing to the run, until the function that it resolves to is called: what waited for that
   * is not written then, as that of a process which died. The lease, which nobody could renew meanwhile, is as if somebody had.
   */
  async hold(run_id: string): Promise<() => Promise<void>> {
    const client = await this.#owner!.connect()
    await client.query('begin')
    await client.query('select 1 from parley.runs where run_id = $1 for update', [run_id])
    return async () => {
      try {
        await client.query(WAITERS_ENDED)
        await client.query('rollback')
      } finally {
        // A transaction that failed is not left to hold the run.
        client.release(true)
      }
      // After the lock: ending a run locks this row first and then waits for the other.
      await this.rows(
        "update parley.run_ownership set lease_until = clock_timestamp() + interval '9 s' where run_id = $1",
        [run_id],
      )
    }
  }

  async set(setting: StaffSetting): Promise<void> {
    await asStaff(this.#ownerUrl, tx => setEnvironment(tx, this.scope, setting))
  }

  async installRateCard(card: Omit<RateCard, 'effective_at'>): Promise<void> {
    await asStaff(this.#ownerUrl, tx => installRateCard(tx, this.scope, { ...card, effective_at: null }))
  }

  async setCallsPerSecond(line: Line, cps: number): Promise<void> {
    await asStaff(this.#ownerUrl, tx => setTrunkDetails(tx, this.scope, trunkOf(line), { cps }))
  }

  /** Publishes an agent that calls over `line`. */
  async publish(agent_id: string, draft: Draft, line: Line): Promise<void> {
    const params = { agent_id }
    const { client } = this
    const content = { ...readDraft(draft), telephony: { trunkId: trunkOf(line), from: CALLED[line] } }
    await client.agents.create({ body: { template: 'blank', name: agent_id, agent_id, language: 'en' } })
    const made = (await client.agents.get({ params })).draft!
    let { revision } = made
    // Where a service has a key, a blank agent has a voice of its.
    const voice = { type: 'agent.provider', role: 'tts', changes: { voiceId: null } } as const
    for (const edits of [[voice], ...editsFor(content)]) {
      const body = { draft_id: made.draft_id, expected_revision: revision, edits }
      revision = (await client.drafts.edit({ params, body })).revision
    }
    const body = { draft_id: made.draft_id, expected_revision: revision }
    await client.publications.publish({ params, body })
  }

  /** Who answers the number that the carrier of `line` calls. */
  async assign(line: Line, agent_id: string): Promise<void> {
    const { items } = await this.client.numbers.list({ query: { trunk_id: trunkOf(line) } })
    const { number_id } = items.find(({ phone_number }) => phone_number === CALLED[line])!
    await this.client.numbers.assign({ params: { number_id }, body: { agent_id } })
  }

  /** Starts one more process of this checkout beside the others; it is stopped with them. */
  async join(roles: string): Promise<RolesProcess> {
    const { process } = await processOf(roles, this.#environment)
    this.#processes.push(process)
    await process.start()
    return process
  }

  /**
   * Asks this API from now on: that of the home's first process, again when it was started again, or that of another
   * process, which `demo.json` does not name while the first one lives.
   */
  async findApi(of?: RolesProcess): Promise<void> {
    const demo = await readDemoFile(this.#home)
    const url = of === undefined ? demo?.api : API_LINE.exec(of.output)?.[1]
    if (url == null || demo?.key == null) throw new Error('the platform made no workspace')
    this.#demo = { url, key: demo.key }
    this.#client = new ParleyClient({ baseUrl: url, key: demo.key, retries: 5 })
  }

  async close(): Promise<void> {
    await this.#owner?.end().catch(() => {})
    const [first, ...others] = this.#processes
    await Promise.all(others.map(process => process.stop()))
    await first!.stop()
    await Promise.all([...this.carriers.values()].map(carrier => carrier.close()))
    for (const remove of this.#removals) await remove()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #begin({ lines = LINES, database }: CallHarnessOptions): Promise<void> {
    const [first, ...others] = this.#processes
    await first!.start()
    const started = await Promise.allSettled(others.map(process => process.start()))
    for (const one of started) if (one.status === 'rejected') throw one.reason
    await this.findApi()
    this.#ownerUrl = database?.ownerUrl ?? (await attachEmbeddedPostgres(this.#home))
    this.#owner = new Pool({ connectionString: this.#ownerUrl, max: 4 })
    // The connection ends with the server and emits an error.
    this.#owner.on('error', () => {})
    this.#scope = await asStaff(this.#ownerUrl, tx => staffScope(tx, null))
    const secret_id = 'carrier-password'
    const secret = { kind: 'sip_auth', value: ACCOUNT.password } as const
    const { version } = await this.client.secrets.put({ params: { secret_id }, body: secret })
    for (const line of lines) await this.#trunk(line, { id: secret_id, version })
  }

  async #trunk(line: Line, auth_secret: { readonly id: string; readonly version: string }): Promise<void> {
    const { client } = this
    const trunk_id = trunkOf(line)
    const trunk = await client.trunks.create({
      body: {
        trunk_id,
        name: trunk_id,
        provider: 'generic_sip',
        termination_uri: hostOf(line),
        auth_username: ACCOUNT.username,
        auth_secret,
        inbound: true,
      },
    })
    await asStaff(this.#ownerUrl, tx =>
      setTrunkDetails(tx, this.scope, trunk_id, {
        transport: line,
        media: line === 'tls' ? 'srtp' : 'rtp',
        cps: 50,
        country: 'US',
      }),
    )
    const phone_number = CALLED[line]
    await client.numbers.import({ body: { phone_number, trunk_id, name: phone_number } })
    this.#tokens.set(line, trunk.inbound_sip_uri!.replace(/^sips?:/, '').split('@')[0]!)
  }
}

/** Also of its trunk's name at the carrier. */
export function trunkOf(line: Line): string {
  return `carrier-${line}`
}

function hostOf(line: Line): string {
  return `carrier-${line}.test`
}

async function processesOf(options: CallHarnessOptions, environment: Readonly<Record<string, string>>) {
  const processes: RolesProcess[] = []
  const engines: HarnessEngine[] = []
  for (const roles of options.processes) {
    const { process, tlsPort } = await processOf(roles, environment, options)
    processes.push(process)
    if (tlsPort !== null) engines.push({ process, tlsPort })
  }
  return { processes, engines }
}

/** Each engine has ports of its own; `tlsPort` is null where the process has no engine. */
async function processOf(
  roles: string,
  environment: Readonly<Record<string, string>>,
  { program, rtpPorts }: Pick<CallHarnessOptions, 'program' | 'rtpPorts'> = {},
): Promise<{ readonly process: RolesProcess; readonly tlsPort: number | null }> {
  if (!roles.split(',').includes('engine'))
    return { process: new RolesProcess(roles, environment, program), tlsPort: null }
  const ports = await freePeerPorts()
  const own = {
    PARLEY_SIP_PORT: String(ports.tls - 1),
    PARLEY_SIP_TLS_PORT: String(ports.tls),
    PARLEY_RTP_PORTS: rtpPorts ?? rtpRange(ports),
    ...environment,
  }
  return { process: new RolesProcess(roles, own, program), tlsPort: ports.tls }
}

async function openCarrier(line: Line, caPath: string, directory: string, options: CallHarnessOptions) {
  const own = mkdtempSync(join(directory, `${line}-`))
  const { numbers, transfers = 'take', play = 'silence' } = options
  const ports = await freePeerPorts()
  const identity = await ensureLocalCertificate(own, { names: [hostOf(line)] })
  for (const name of ['cert', 'key'] as const) writeFileSync(join(own, name), identity[name])
  const carrier = await CarrierProcess.open(own, {
    transports: line === 'tls' ? { tls: ports.tls } : { udp: ports.tls - 1 },
    media: { kind: line === 'tls' ? 'srtp' : 'rtp', play },
    digest: { ...ACCOUNT, realm: REALM },
    numbers: [...numbers],
    transfers,
    ...(line === 'tls' && { tls: { cert: join(own, 'cert'), key: join(own, 'key'), ca: caPath } }),
  })
  const port = line === 'tls' ? ports.tls : ports.tls - 1
  const ca = line === 'tls' ? `;${identity.caPath}` : ''
  return { line, carrier, entry: `${hostOf(line)}=127.0.0.1:${port};${line}${ca}` }
}

/** What `look` finds once it is not null; null when it never was within that time. */
export async function within<Found>(ms: number, look: () => Promise<Found | null>): Promise<Found | null> {
  const giveUpAt = performance.now() + ms
  for (;;) {
    const found = await look()
    if (found !== null) return found
    if (performance.now() > giveUpAt) return null
    await pause(50)
  }
}
