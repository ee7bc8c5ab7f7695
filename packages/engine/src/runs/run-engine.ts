import { randomUUID } from 'node:crypto'
import { type Ms, systemRandom, type Time, type Timer } from '@parley/kernel'
import { type OwnedRun, RepeatedFailureLog, type RunLeases, type RunQueue } from '@parley/runs'
import type { Bus, Database, JsonObject, Sealer } from '@parley/store'
import { type LiveKitServer, PeerProcess, type PeerProcessOptions, RoomProcess } from '@parley/webrtc'
import type { Call } from '../call.ts'
import { Engine, type EngineOptions } from '../engine.ts'
import { firstRouteOf, type InboundRouter } from '../inbound-router.ts'
import { CallLadders, type LadderMessage } from '../ladder/call-ladders.ts'
import { CallListeners } from '../web/call-listeners.ts'
import { WebRuns } from '../web/web-runs.ts'
import type { AgentFactory } from './agent-factory.ts'
import { AgentSwaps } from './agent-swaps.ts'
import type { CallRecordEnd } from './call-record.ts'
import { InboundRuns } from './inbound-runs.ts'
import { OutboundRuns } from './outbound-runs.ts'
import type { Recordings } from './recordings.ts'
import { TrunkDirectory, type TrunkDirectoryOptions } from './trunk-directory.ts'
import { type PingFigures, TrunkPings } from './trunk-pings.ts'
import { TrunkRegistrations } from './trunk-registrations.ts'

/** How often the database is queried for waiting runs, in case a job of the queue was lost. */
const SWEEP_MS: Ms = 5000
const HEARTBEAT_MS: Ms = 3000
const POLL_MS: Ms = 100
/** An engine without a heartbeat for this long is gone. */
const PRESENT_MS: Ms = 15_000

interface RunEngineOptions {
  readonly database: Database
  readonly bus: Bus
  readonly sealer: Sealer
  /** Owned by this engine and closed with it. */
  readonly leases: RunLeases
  /** Not closed with it. */
  readonly runQueue: RunQueue
  readonly agents: AgentFactory
  readonly recordings: Recordings
  readonly time: Time
  readonly addressesOf: TrunkDirectoryOptions['addressesOf']
  /** Addresses at which other processes reach the engine, stored in its row. */
  readonly addresses: (engine: Engine) => JsonObject
  /** Options of the engine. */
  readonly calls: Omit<EngineOptions, 'router'>
  /** How browsers of web calls are reached. */
  readonly web: PeerProcessOptions
  /** Where web calls by LiveKit have their rooms. Default: there are no such calls. */
  readonly liveKit?: LiveKitServer
  /** Router for calls that are not runs, asked before the trunks. Default: none. */
  readonly router?: InboundRouter
  /** Called when this engine has finished a run or lost it to another. */
  readonly onOver?: (run: OwnedRun, end: CallRecordEnd) => void
  /** Receives every SIP message of every run, without credentials and keys. */
  readonly onSipMessage?: (message: LadderMessage) => void
  /** `error`: null when it works again. */
  readonly onProblem: (what: string, error: unknown) => void
}

/** An engine whose calls are runs: it admits inbound ones as they arrive, and claims outbound ones from the queue. */
export class RunEngine {
  readonly engine: Engine
  readonly #options: RunEngineOptions
  readonly #directory: TrunkDirectory
  readonly #registrations: TrunkRegistrations
  readonly #pings: TrunkPings
  readonly #outbound: OutboundRuns
  readonly #web: WebRuns
  readonly #peers: PeerProcess
  readonly #rooms: RoomProcess
  readonly #listeners: CallListeners
  readonly #heartbeats: RepeatedFailureLog
  readonly #sweeps: RepeatedFailureLog
  #isClosed = false
  #stopListening: (() => Promise<void>) | null = null
  #heartbeat: Timer | null = null
  #sweep: Timer | null = null

  private constructor(
    options: RunEngineOptions,
    engine: Engine,
    directory: TrunkDirectory,
    registrations: TrunkRegistrations,
    ladders: CallLadders,
    swaps: AgentSwaps,
  ) {
    this.#options = options
    this.engine = engine
    this.#directory = directory
    this.#registrations = registrations
    const { database, leases, sealer, agents, recordings, time, onProblem } = options
    this.#heartbeats = new RepeatedFailureLog({ name: 'the heartbeat of the engine', time, onProblem })
    this.#sweeps = new RepeatedFailureLog({ name: 'the query for waiting runs', time, onProblem })
    this.#pings = new TrunkPings({
      database,
      engineId: leases.owner.engine,
      time,
      random: systemRandom,
      wallClock: Date.now,
      onProblem,
    })
    this.#outbound = new OutboundRuns({
      database,
      leases,
      sealer,
      agents,
      recordings,
      swaps,
      time,
      onProblem,
      ladders,
      onDial: trunk => this.#pings.used(trunk),
      capacity: engine.capacity,
      dial: (request, place) => engine.dial(request, place),
      onOver: (run, end) => options.onOver?.(run, end),
    })
    this.#peers = new PeerProcess({ ...options.web, onProblem })
    this.#rooms = new RoomProcess({ onProblem })
    this.#web = new WebRuns({
      database,
      bus: options.bus,
      leases,
      agents,
      recordings,
      swaps,
      time,
      peers: this.#peers,
      rooms: options.liveKit === undefined ? null : { server: options.liveKit, process: this.#rooms },
      engine,
      onOver: (run, end) => options.onOver?.(run, end),
      onProblem,
    })
    this.#listeners = new CallListeners({
      database,
      bus: options.bus,
      peers: this.#peers,
      media: engine.endpoint.media,
      calls: () => engine.calls,
      time,
      onProblem,
    })
  }

  /** Throws what the endpoint throws ("address_in_use"), and what the database throws. */
  static async start(options: RunEngineOptions): Promise<RunEngine> {
    const { database, bus, leases, agents, recordings, time, addressesOf, onProblem } = options
    const { telephony } = database
    const directory = await TrunkDirectory.open({ telephony, bus, time, addressesOf, onProblem })
    const registrations = new TrunkRegistrations({
      database,
      directory,
      sealer: options.sealer,
      engineId: leases.owner.engine,
      instanceId: randomUUID(),
      hasOtherEngine: async () => {
        const present = await database.runs.engines.present(PRESENT_MS)
        return present.some(({ engine_id, draining }) => engine_id !== leases.owner.engine && !draining)
      },
      time,
      wallClock: Date.now,
      onProblem,
    })
    const ladders = new CallLadders({
      wallClock: Date.now,
      ...(options.onSipMessage !== undefined && { onMessage: options.onSipMessage }),
    })
    const swaps = new AgentSwaps({
      database,
      leases,
      agents,
      recordings,
      ladders,
      time,
      onOver: (run, end) => options.onOver?.(run, end),
      onProblem,
    })
    const inbound = new InboundRuns({
      database,
      leases,
      directory,
      registeredOn: flowId => registrations.trunksOn(flowId),
      agents,
      recordings,
      swaps,
      time,
      onProblem,
      ladders,
      onOver: (run, end) => options.onOver?.(run, end),
    })
    const router = options.router === undefined ? inbound : firstRouteOf([options.router, inbound])
    let runs: RunEngine | null = null
    const onCall = (call: Call) => {
      options.calls.onCall?.(call)
      if (runs !== null) runs.#listeners.began(call)
    }
    const endpoint = { ...options.calls.endpoint, observe: ladders.observe.bind(ladders) }
    const engine = await Engine.start({ ...options.calls, endpoint, router, onCall }).catch(error => {
      directory.close()
      throw error
    })
    runs = new RunEngine(options, engine, directory, registrations, ladders, swaps)
    try {
      await runs.#begin()
    } catch (error) {
      await runs.close()
      throw error
    }
    return runs
  }

  /** Live calls. */
  get live(): number {
    return this.engine.calls.size
  }

  /** Answers of trunks to OPTIONS, and registrations by their state. */
  get trunkFigures(): { readonly pings: PingFigures; readonly registrations: TrunkRegistrations['figures'] } {
    return { pings: this.#pings.figures, registrations: this.#registrations.figures }
  }

  get isDraining(): boolean {
    return this.engine.capacity.isDraining
  }

  /**
   * Takes no new calls of either direction; live ones go on. Resolves when the last run is finished, or after `withinMs`: `close`
   * hangs up what is left.
   */
  async drain(withinMs: Ms): Promise<void> {
    const { time } = this.#options
    this.engine.drain()
    this.#pings.stop()
    void this.#beat()
    let isHandedOver = false
    void this.#registrations.drain().finally(() => {
      isHandedOver = true
    })
    await this.#stopListening?.()
    this.#stopListening = null
    const until = time.now() + withinMs
    const isBusy = () => this.engine.capacity.taken > 0 || this.#options.leases.size > 0 || !isHandedOver
    while (isBusy() && time.now() < until)
      await new Promise<void>(resolve => void time.at(time.now() + POLL_MS, resolve))
  }

  /** Hangs up live calls, finishes their runs, and leaves nothing open. */
  async close(): Promise<void> {
    const { leases, database, time } = this.#options
    this.engine.drain()
    this.#isClosed = true
    await this.#stopListening?.()
    this.#heartbeat?.cancel()
    this.#sweep?.cancel()
    this.#pings.stop()
    await this.#registrations.close()
    this.#directory.close()
    this.#web.close()
    await this.#listeners.close()
    await this.engine.close()
    await this.#peers.close()
    await this.#rooms.close()
    // The ends of these runs are still being written.
    const until = time.now() + CLOSE_MS
    while (leases.size > 0 && time.now() < until)
      await new Promise<void>(resolve => void time.at(time.now() + POLL_MS, resolve))
    leases.close()
    await database.runs.engines.forget(leases.owner.engine).catch(() => {})
  }

  async #begin(): Promise<void> {
    const { database, leases, runQueue, addresses } = this.#options
    await database.runs.engines.register({
      engine_id: leases.owner.engine,
      addresses: addresses(this.engine),
      capacity: this.engine.capacity.max,
    })
    this.#stopListening = await runQueue.listen(['phone', 'web'], work =>
      work.kind === 'web' ? this.#web.begin(work) : this.#outbound.begin(work),
    )
    this.#every(
      HEARTBEAT_MS,
      () => this.#beat(),
      timer => {
        this.#heartbeat = timer
      },
    )
    this.#every(
      SWEEP_MS,
      () => this.#takeWaiting(),
      timer => {
        this.#sweep = timer
      },
    )
    this.#registrations.begin(this.engine.endpoint.userAgent)
    this.#pings.begin(this.engine.endpoint.userAgent)
    await this.#takeWaiting()
  }

  #every(ms: Ms, work: () => Promise<void>, keep: (timer: Timer) => void): void {
    const { time } = this.#options
    if (!this.#isClosed) keep(time.at(time.now() + ms, () => void work().finally(() => this.#every(ms, work, keep))))
  }

  async #beat(): Promise<void> {
    const { database, leases, addresses } = this.#options
    const { engines } = database.runs
    try {
      const engine_id = leases.owner.engine
      if (!(await engines.heartbeat(engine_id, this.live, this.isDraining)))
        await engines.register({ engine_id, addresses: addresses(this.engine), capacity: this.engine.capacity.max })
      this.#heartbeats.worked()
    } catch (error) {
      this.#heartbeats.failed(error)
    }
  }

  async #takeWaiting(): Promise<void> {
    const { database, leases } = this.#options
    const { free } = this.engine.capacity
    if (free === 0) return
    try {
      for (const { run_id, scope } of await database.runs.waiting('phone', free, leases.tenants))
        void this.#outbound.begin({ kind: 'phone', run_id, scope })
      for (const { run_id, scope } of await database.runs.waiting('web', free, leases.tenants))
        void this.#web.begin({ kind: 'web', run_id, scope })
      this.#sweeps.worked()
    } catch (error) {
      this.#sweeps.failed(error)
    }
  }
}

/** Longest wait of `close` for the ends of runs to be written. */
const CLOSE_MS: Ms = 5000
