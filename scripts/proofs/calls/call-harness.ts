import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ParleyClient } from '@parley/client'
import type { Scope } from '@parley/contract'
import { type Draft, readDraft } from '@parley/flow'
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
import type { AtTestEnd } from '../../../interop/clean-up.ts'
import { ADMITS_WHEN_LATE, preparedHome, temporaryHome } from '../../../interop/serving.ts'
import { readDemoFile } from '../../../packages/cli/src/workspace/demo-file.ts'
import { editsFor } from '../../../packages/cli/src/workspace/draft-edits.ts'
import {
  CALLED,
  type CarrierOptions,
  createTrunk,
  LINES,
  type Line,
  openCarrier,
  placeOf,
  putTrunkSecret,
  type TrunkPlace,
  trunkOf,
} from './carrier-lines.ts'
import type { CarrierProcess } from './carrier-process.ts'
import { type HarnessEngine, type ProcessOptions, processesOf, processOf } from './harness-processes.ts'
import { lockRun } from './lock-run.ts'
import type { RolesProcess } from './roles-process.ts'

/** The line with the API's address that a process with an API prints when it is ready. */
const API_LINE = /^API +(\S+)\/api\/v1 /m

interface CallHarnessOptions extends CarrierOptions, ProcessOptions {
  /**
   * The roles of each process, such as `api,worker` and `engine`. The first process has the database and is stopped last;
   * processes with an engine come last.
   */
  readonly processes: readonly string[]
  /** Default both. Each line has a carrier of its own, since a carrier's media are either plain or secure. */
  readonly lines?: readonly Line[]
  readonly env?: Readonly<Record<string, string>>
  /** A database that is migrated and empty; default: the first process starts an embedded one. */
  readonly database?: HarnessDatabase
}

/** URLs of the database for its owner: `url` for the processes, which may lead over a relay; `ownerUrl` for the harness. */
interface HarnessDatabase {
  readonly url: string
  readonly ownerUrl: string
}

/** A platform in processes, with one or two trunks to carriers that record their calls, and access to its database and API. */
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
  /** Token of the trunk's inbound address, by line. */
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
    const atEnd: AtTestEnd = removal => void removals.push(() => removal({ task: {} }))
    const home = options.database === undefined ? await preparedHome(atEnd) : temporaryHome(atEnd)
    const directory = mkdtempSync(join(tmpdir(), 'parley-proof.'))
    const { caPath } = await ensureLocalCertificate(home)
    const opened = await Promise.allSettled(
      (options.lines ?? LINES).map(line => openCarrier(line, caPath, directory, options)),
    )
    const openCarriers = opened.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
    const carriers = new Map(openCarriers.map(({ line, carrier }) => [line, carrier]))
    const environment = {
      PARLEY_HOME: home,
      PARLEY_HTTP_PORT: '0',
      PARLEY_SIP_DOMAIN: '127.0.0.1',
      PARLEY_RESOLVE: openCarriers.map(({ entry }) => entry).join(','),
      ...ADMITS_WHEN_LATE,
      ...(options.database && { DATABASE_URL: options.database.url }),
      ...options.env,
    }
    const { processes, engines } = await processesOf(options.processes, environment, options)
    const harness = new CallHarness(carriers, { processes, engines, environment, home, directory, removals })
    try {
      for (const result of opened) if (result.status === 'rejected') throw result.reason
      await harness.#start(options)
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

  /** URL of the database for its owner. */
  get ownerUrl(): string {
    return this.#ownerUrl
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

  /** The address that the carrier calls. `engine`: default the first. */
  inboundUri(line: Line, engine: HarnessEngine = this.#engines[0]!): string {
    const port = line === 'tls' ? engine.tlsPort : engine.tlsPort - 1
    return `sip:${this.#tokens.get(line)!}@127.0.0.1:${port};transport=${line}`
  }

  carrier(line: Line): CarrierProcess {
    return this.carriers.get(line)!
  }

  /** Queries as the owner of the tables, without row-level security. */
  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#owner!.query(text, [...values])).rows as Row[]
  }

  /** See `lockRun`. */
  hold(run_id: string): Promise<() => Promise<void>> {
    return lockRun(this.#owner!, run_id)
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

  /** Adds a trunk with the account of the proofs. Returns the token of its inbound address. */
  async addTrunk(place: TrunkPlace): Promise<string> {
    const { trunk_id, transport, phone_number } = place
    const token = await createTrunk(this.client, place, await putTrunkSecret(this.client))
    const media = transport === 'tls' ? 'srtp' : 'rtp'
    await asStaff(this.#ownerUrl, tx =>
      setTrunkDetails(tx, this.scope, trunk_id, { transport, media, cps: 50, country: 'US' }),
    )
    await this.client.numbers.import({ body: { phone_number, trunk_id, name: phone_number } })
    return token
  }

  /** Publishes an agent that calls over `line`, or over a trunk that was added. */
  async publish(agent_id: string, draft: Draft, line: Line | TrunkPlace): Promise<void> {
    const params = { agent_id }
    const { client } = this
    const { trunk_id, phone_number } = typeof line === 'string' ? placeOf(line) : line
    const content = { ...readDraft(draft), telephony: { trunkId: trunk_id, from: phone_number } }
    await client.agents.create({ body: { template: 'blank', name: agent_id, agent_id, language: 'en' } })
    const created = (await client.agents.get({ params })).draft!
    let { revision } = created
    // The voice that takes least CPU. A blank agent gets one of the first service that has a key.
    const voice = { type: 'agent.provider', role: 'tts', changes: { voiceId: 'kal' } } as const
    for (const edits of [[voice], ...editsFor(content)]) {
      const body = { draft_id: created.draft_id, expected_revision: revision, edits }
      revision = (await client.drafts.edit({ params, body })).revision
    }
    const body = { draft_id: created.draft_id, expected_revision: revision }
    await client.publications.publish({ params, body })
  }

  /** Lets the agent answer the number that the carrier of `line` calls. */
  async assign(line: Line, agent_id: string): Promise<void> {
    const { items } = await this.client.numbers.list({ query: { trunk_id: trunkOf(line) } })
    const { number_id } = items.find(({ phone_number }) => phone_number === CALLED[line])!
    await this.client.numbers.assign({ params: { number_id }, body: { agent_id } })
  }

  /** Starts one more process of this checkout, which `close` stops with the others. */
  async addProcess(roles: string): Promise<RolesProcess> {
    const { process } = await processOf(roles, this.#environment)
    this.#processes.push(process)
    await process.start()
    return process
  }

  /**
   * Sends requests to this API from now on: that of `of`, or by default that of the home's first process. To be called again when
   * that process was restarted.
   */
  async findApi(of?: RolesProcess): Promise<void> {
    const demo = await readDemoFile(this.#home)
    const url = of === undefined ? demo?.api : API_LINE.exec(of.output)?.[1]
    if (url == null || demo?.key == null)
      throw new Error('the platform has printed no API address or created no workspace')
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

  async #start({ lines = LINES, database }: CallHarnessOptions): Promise<void> {
    const [first, ...others] = this.#processes
    await first!.start()
    const started = await Promise.allSettled(others.map(process => process.start()))
    for (const result of started) if (result.status === 'rejected') throw result.reason
    await this.findApi()
    this.#ownerUrl = database?.ownerUrl ?? (await attachEmbeddedPostgres(this.#home))
    this.#owner = new Pool({ connectionString: this.#ownerUrl, max: 4 })
    // A connection emits an error when the server stops.
    this.#owner.on('error', () => {})
    this.#scope = await asStaff(this.#ownerUrl, tx => staffScope(tx, null))
    for (const line of lines) this.#tokens.set(line, await this.addTrunk(placeOf(line)))
  }
}
