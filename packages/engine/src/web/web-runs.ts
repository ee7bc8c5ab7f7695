import { Semaphore, type Time } from '@parley/kernel'
import { openWebLeg, type WebLeg } from '@parley/leg'
import type { OwnedRun, RunLeases, Work } from '@parley/runs'
import { type Bus, type Database, readWebCall, settleWebOffer, startingRun, type WebCallRow } from '@parley/store'
import type { PeerProcess } from '@parley/webrtc'
import type { CallPlace } from '../call-capacity.ts'
import type { Engine } from '../engine.ts'
import type { AgentFactory } from '../runs/agent-factory.ts'
import { CallRecord, type CallRecordEnd, undialled } from '../runs/call-record.ts'
import { openRecording, type Recordings } from '../runs/recordings.ts'
import { type CallSwaps, type ReadyRun, runPlan, wantsRecording } from '../runs/run-plan.ts'
import type { NumberingTrunk } from '../runs/trunk-numbers.ts'
import { LiveRoomCall, type Rooms } from './live-room-call.ts'
import { LiveWebCall } from './live-web-call.ts'
import { PageFeed } from './page-feed.ts'

interface WebRunsOptions {
  readonly database: Database
  readonly bus: Bus
  readonly leases: RunLeases
  readonly agents: AgentFactory
  readonly recordings: Recordings
  readonly swaps: CallSwaps
  readonly time: Time
  readonly peers: PeerProcess
  /** Null: there is no LiveKit server. */
  readonly rooms: Rooms | null
  readonly engine: Engine
  readonly onOver: (run: OwnedRun, end: CallRecordEnd) => void
  readonly onProblem: (what: string, error: unknown) => void
}

/** Runs whose set-up uses the database at the same time. */
const MAX_SETUPS_AT_ONCE = 8
/** A visitor whose token was valid to the last moment joins within this time. */
const JOIN_MS = 10_000
/** A browser has no numbers and cannot be transferred. */
const NO_TRUNK: NumberingTrunk = { details: { refer: false }, first_number: null }

/** How the call's browser connects. */
type WebCall = Pick<WebCallRow, 'kind' | 'left_ms'>

/** What the run of a web call is opened with. */
interface WebCallParts extends Required<Pick<ReadyRun, 'beforeFinish'>> {
  readonly record: CallRecord
  readonly place: CallPlace
}

/** Claims web runs: those whose browser has made its offer, which it answers, and those whose room it joins. */
export class WebRuns {
  readonly #options: WebRunsOptions
  readonly #beginning = new Set<string>()
  readonly #setups = new Semaphore(MAX_SETUPS_AT_ONCE)
  readonly #live = new Map<string, LiveWebCall>()
  readonly #unsubscribe: () => void

  constructor(options: WebRunsOptions) {
    this.#options = options
    const all = () => {
      for (const call of this.#live.values()) void call.changed()
    }
    this.#unsubscribe = options.bus.subscribe('web_calls', runId => void this.#live.get(runId)?.changed(), all)
  }

  /** Claims the run if its offer is there or it needs none, no other engine has it, and a place is free. Never rejects. */
  async begin({ scope, run_id }: Work): Promise<void> {
    const { database, engine, leases, onProblem } = this.#options
    if (this.#beginning.has(run_id)) return
    const place = engine.capacity.reserve()
    if (place === null) return
    this.#beginning.add(run_id)
    let run: OwnedRun | null = null
    try {
      const call = await this.#setups.run(() => readWebCall(database.within(scope), scope, run_id))
      const isReady = call !== null && (call.kind === 'livekit' || call.offer !== null)
      run = isReady ? await this.#setups.run(() => leases.claim(scope, run_id)) : null
      if (call !== null && run !== null) await this.#start(run, call, place)
    } catch (error) {
      onProblem(`web run ${run_id} cannot be claimed or set up`, error)
      run = null
    } finally {
      this.#beginning.delete(run_id)
      if (run === null) place.release()
    }
  }

  close(): void {
    this.#unsubscribe()
  }

  async #start(run: OwnedRun, call: WebCall, place: CallPlace): Promise<void> {
    const { recordings, time, onOver } = this.#options
    let room: LiveRoomCall | null = null
    const record = new CallRecord({
      run,
      direction: 'inbound',
      channel: 'web',
      time,
      recordings,
      beforeFinish: async () => room?.end(run),
      onOver: end => onOver(run, end),
    })
    let leg: WebLeg | null = null
    try {
      room = this.#roomOf(run, call)
      const parts = { record, place, beforeFinish: async (last: OwnedRun) => room?.end(last) }
      leg = await this.#setups.run(() => this.#open(run, call, parts))
    } catch (error) {
      this.#options.onProblem(`web run ${run.runId} cannot be set up`, error)
      await this.#refuse(run)
      if (!record.isRunning) record.enter('preparing')
      await record.abandon(undialled('provider_failed'))
      place.release()
      return
    }
    if (room !== null) return room.start(leg)
    const live = new LiveWebCall({ ...this.#options, run, leg })
    this.#live.set(run.runId, live)
    leg.onEvent(event => {
      if (event.type === 'ended') this.#live.delete(run.runId)
    })
    await live.changed()
  }

  /** The room of a call by LiveKit; null: the call is direct. */
  #roomOf(run: OwnedRun, { kind, left_ms }: WebCall): LiveRoomCall | null {
    const { rooms, onProblem } = this.#options
    if (kind === 'direct') return null
    if (rooms === null)
      throw new TypeError('the run is a call by LiveKit, and this engine has no LIVEKIT_URL: set it for every process')
    return new LiveRoomCall({ run, rooms, visitorMs: left_ms + JOIN_MS, onProblem })
  }

  /** Opens the media of the call, and starts the call on it. */
  async #open(run: OwnedRun, call: WebCall, { record, place, beforeFinish }: WebCallParts): Promise<WebLeg> {
    const { database, agents, recordings, engine, time } = this.#options
    const { scope, runId } = run
    const start = await startingRun(database.within(scope), scope, runId)
    if (start === null) throw new TypeError(`run ${runId} was claimed and is not in the database`)
    const { agent_id, version, plan } = start
    const agent = await agents.create({ scope, agent_id, version, plan })
    const recording = wantsRecording(plan) ? await openRecording(recordings, run) : null
    record.enter('preparing')
    const context = { media: engine.endpoint.media, time }
    const leg = await openWebLeg(context, {
      label: `web-${runId}`,
      ...(call.kind === 'livekit' && { visitorMs: call.left_ms + JOIN_MS }),
      ...(recording && { recording }),
    })
    const feed = new PageFeed(update => leg.sendToPage(update, { greets: update.type === 'agent' }))
    const swaps = this.#swapsOf(run, feed)
    const callPlan = runPlan({ run, start, trunk: NO_TRUNK, agent, record, time, swaps, beforeFinish }, recording)
    engine.begin(
      leg,
      {
        ...callPlan,
        onEvent: (event, call) => {
          feed.onEvent(event)
          callPlan.onEvent?.(event, call)
        },
      },
      place,
    )
    return leg
  }

  /** Agents that continue the call: the page keeps its feed, and its offers are answered for the run that has the call. */
  #swapsOf(first: OwnedRun, feed: PageFeed): CallSwaps {
    const { swaps } = this.#options
    return {
      prepare: async (...swap) => {
        const successor = await swaps.prepare(...swap)
        return (
          successor && {
            ...successor,
            onEvent: (event, call) => {
              feed.onEvent(event)
              successor.onEvent?.(event, call)
            },
            onCall: call => {
              this.#live.get(first.runId)?.continuedBy(successor.run)
              successor.onCall(call)
            },
          }
        )
      },
    }
  }

  /** Tells the browser that there will be no answer. */
  async #refuse(run: OwnedRun): Promise<void> {
    const { database, bus } = this.#options
    await database
      .transaction(run.scope, tx =>
        settleWebOffer(tx, run.scope, run.runId, run.owned, 1, { refusal: 'the agent cannot take the call now' }),
      )
      .catch((error: unknown) => this.#options.onProblem(`web run ${run.runId}`, error))
    bus.publish('runs', run.runId)
  }
}
