import type {
  PreemptiveGenerationReport,
  SwapRequest,
  TimelineItem,
  TurnLatency,
  Utterance,
} from '@parley/conversation'
import { type Ms, msToSamples, type Samples, type Time, type Timer } from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent, LegOptions, LegTransport } from '@parley/leg'
import type { OwnedRun } from '@parley/runs'
import type { CallControl, CallHandler, CarriedConversation, HandOver } from './call-handler.ts'
import { continuedEvent, continuedLeg, firstEvents } from './continued-leg.ts'
import { type LocalEnding, type RunResult, runResult } from './outcome.ts'
import type { Ticker } from './ticker.ts'

/** Longest wait, after the call, for actions that are still in progress. */
const SETTLE_MS: Ms = 5000

/** The run of a call, and its environment. */
type RunOfCall = Pick<OwnedRun, 'runId' | 'scope'>

interface CallOptions {
  readonly leg: CallLeg
  readonly time: Time
  readonly ticker: Ticker
  /** Creates the handler. May throw; the call then ends as failed. */
  readonly createHandler: (line: CallControl) => CallHandler
  /** The engine hangs up after this long, whatever the handler does; default 25 hours. */
  readonly maxDurationMs?: Ms
  readonly onEvent?: (event: CallEvent, call: Call) => void
  /** The run of the call; default: it is none. Gets each event after `onEvent`, which gets what the run shows of it. */
  readonly owner?: CallOwner
}

/** Prepares the run and the agent that continue a call; null: none can. Never rejects. */
export type PrepareSuccessor = (request: SwapRequest, effectId: string, call: Call) => Promise<Successor | null>

/** What a call gets from its run: the listener for its events, and the agent that can continue it. */
export interface CallOwner {
  /** Default: the call is no run. */
  readonly run?: RunOfCall
  onEvent?(event: CallEvent, call: Call): void
  /** What others than the run get of an event, such as logs; null: nothing. Default: the event. */
  shown?(event: CallEvent): CallEvent | null
  /** Default: no other agent can continue the call. */
  readonly prepareSuccessor?: PrepareSuccessor
}

/** A run and an agent that are ready to continue a call. */
export interface Successor extends CallOwner {
  readonly run: RunOfCall
  /** Null: the rest of the call is not recorded. */
  readonly recording: NonNullable<LegOptions['recording']> | null
  /** Creates the handler of the rest of the call. */
  createHandler(control: CallControl, carried: CarriedConversation): CallHandler
  /** Called when the handler is created, before its first event. */
  onCall(call: Call): void
  /** Called instead of `onCall` when the call ended before. */
  onAbandoned(): void
}

export type CallEvent =
  | { readonly type: 'leg'; readonly event: LegEvent }
  | { readonly type: 'timeline'; readonly item: TimelineItem }
  /** Another agent continues the call, in a run of its own; the last event for the owner before. */
  | { readonly type: 'handed-over'; readonly handOver: HandOver }
  /** Either side has begun to end the call. Emitted once. */
  | { readonly type: 'ending' }
  | { readonly type: 'ended'; readonly report: CallReport }

/** The result of a call that is over. */
export interface CallReport {
  readonly run: RunResult
  readonly direction: 'inbound' | 'outbound'
  readonly transport: LegTransport | null
  readonly utterances: readonly Utterance[]
  readonly timeline: readonly TimelineItem[]
  readonly digits: string
  /** One for each measured answer of the agent, in order. */
  readonly latencies: readonly TurnLatency[]
  readonly preemptive: PreemptiveGenerationReport | null
  readonly end: LegEnd
}

/** Owns a call of either direction: its leg, its handler, and its report at the end. */
export class Call {
  readonly leg: CallLeg
  /** Resolves when the call is over, its recording complete and its handler settled; never rejects. */
  readonly report: Promise<CallReport>
  #handler: CallHandler | null
  #owner: CallOwner
  /** Position at which the run of the call began; its clock counts from there. */
  #origin: Samples = 0
  /** Ready to continue the call. */
  #successor: Successor | null = null
  #handingOver: Promise<void> | null = null
  readonly #time: Time
  readonly #ticker: Ticker
  readonly #onEvent: CallOptions['onEvent']
  #stopReading: (() => void) | null = null
  #limit: Timer | undefined
  #ending: LocalEnding | null = null
  #isEnding = false
  #transport: LegTransport | null = null

  constructor(options: CallOptions) {
    this.leg = options.leg
    this.#owner = options.owner ?? {}
    this.#time = options.time
    this.#ticker = options.ticker
    this.#onEvent = options.onEvent
    this.#handler = this.#create(options.createHandler, this.leg, this.#owner)
    this.#limit = this.#time.at(this.#time.now() + (options.maxDurationMs ?? 25 * 3_600_000), () =>
      this.#end('max_duration'),
    )
    this.report = new Promise(resolve => {
      this.leg.onEvent(event => {
        if (event.type !== 'ended') return this.#onLeg(event)
        // A call that is being handed over ends in the run of the agent that continues it.
        if (this.#handingOver === null) this.#onLegEnded(event, resolve)
        else void this.#handingOver.then(() => this.#onLegEnded(event, resolve))
      })
    })
    if (this.#handler === null) this.leg.hangUp()
  }

  /** The run of the call; undefined: the call is no run. */
  get run(): RunOfCall | undefined {
    return this.#owner.run
  }

  /** An operator ends the call: speech stops, then CANCEL or BYE. */
  cancel(): void {
    this.#end('cancelled')
  }

  /** The transcript so far. */
  get utterances(): readonly Utterance[] {
    return this.#handler?.result.utterances ?? []
  }

  /** Applies the variables of a live update from the agent's next turn on. False: the handler has no variables. */
  updateVariables(values: Readonly<Record<string, string>>): boolean {
    if (this.#handler?.updateVariables === undefined) return false
    this.#guarded(handler => handler.updateVariables?.(values))
    return true
  }

  /** The variables of the agent's flow that were set. */
  get variables(): Readonly<Record<string, string>> {
    return this.#handler?.carriedOver?.().variables ?? {}
  }

  /** Value of a variable of the agent's flow. */
  variable(name: string): string | undefined {
    return this.#handler?.variable?.(name)
  }

  #create(createHandler: CallOptions['createHandler'], leg: CallLeg, owner: CallOwner): CallHandler | null {
    try {
      return createHandler({
        leg,
        end: why => {
          if (owner === this.#owner) this.#end(why)
        },
        swapAgent: async (request, effectId) => {
          const successor = await owner.prepareSuccessor?.(request, effectId, this)
          if (successor === undefined || successor === null) return null
          if (this.#isEnding || owner !== this.#owner) {
            successor.onAbandoned()
            return null
          }
          this.#successor = successor
          return successor.run.runId
        },
        addTimelineItem: item => this.#emit({ type: 'timeline', item }, owner),
      })
    } catch {
      this.#ending = 'internal'
      return null
    }
  }

  /** A listener's error ends its own call and no other. It may come from a timer, where no caller would catch it. */
  #emit(event: CallEvent, owner: CallOwner = this.#owner): void {
    try {
      const shown = owner.shown === undefined ? event : owner.shown(event)
      if (shown !== null) this.#onEvent?.(shown, this)
      owner.onEvent?.(event, this)
    } catch {
      this.#ending ??= 'internal'
      this.leg.hangUp()
    }
  }

  #onLeg(event: LegEvent): void {
    this.#emit({ type: 'leg', event })
    if (event.type === 'answered') this.#transport = this.leg.transport
    if (event.type === 'answered' || (event.type === 'ringing' && event.earlyMedia))
      this.#stopReading ??= this.#ticker.add(() => this.#guarded(handler => handler.drain()))
    if (event.type === 'transfer-result' && event.taken) {
      this.#ending ??= 'transferred'
      this.#emitEnding()
    }
    this.#guarded(handler => handler.onLeg(this.#origin === 0 ? event : continuedEvent(event, this.#origin)))
  }

  #onLegEnded(event: LegEvent & { readonly type: 'ended' }, resolve: (report: CallReport) => void): void {
    this.#emitEnding()
    void this.#reportOf(event.end).then(report => {
      resolve(report)
      this.#emit({ type: 'leg', event })
      this.#emit({ type: 'ended', report })
    })
  }

  /** An exception of the handler ends its own call and no other. */
  #guarded(act: (handler: CallHandler) => void): void {
    if (this.#handler === null) return
    try {
      act(this.#handler)
    } catch {
      this.#end('internal')
    }
  }

  #end(why: LocalEnding): void {
    const successor = this.#successor
    if (why === 'transferred' && successor !== null && this.#ending === null) {
      this.#successor = null
      this.#handingOver = this.#handOver(successor)
      return
    }
    this.#ending ??= why
    this.#guarded(handler => handler.stop())
    this.leg.hangUp()
    this.#emitEnding()
  }

  /** The successor's handler takes the place of the present one. Never rejects. */
  async #handOver(successor: Successor): Promise<void> {
    const before = this.#handler
    const carried = before?.carriedOver?.() ?? { history: [], variables: {} }
    this.#guarded(handler => handler.stop())
    const owner = this.#owner
    const settled = this.#settled(before)
    this.#handler = null
    const { segments, atSample } = await this.leg
      .splitRecording(successor.recording)
      .catch(() => ({ segments: null, atSample: this.leg.heardPosition() }))
    if (before !== null)
      this.#emit(
        { type: 'handed-over', handOver: { result: before.result, segments, successor: successor.run.runId, settled } },
        owner,
      )
    this.#owner = successor
    this.#origin = atSample
    this.#skipTo(atSample)
    this.#handler = this.#create(
      line => successor.createHandler(line, carried),
      continuedLeg(this.leg, atSample),
      successor,
    )
    successor.onCall(this)
    if (this.#handler === null) return this.leg.hangUp()
    for (const event of firstEvents(this.leg.heardPosition())) {
      successor.onEvent?.({ type: 'leg', event }, this)
      this.#guarded(handler => handler.onLeg(continuedEvent(event, atSample)))
    }
    this.#handingOver = null
  }

  /** What was heard before `position` belongs to the recording of the agent before. */
  #skipTo(position: Samples): void {
    const block = new Int16Array(msToSamples(20, this.leg.format))
    while (this.leg.heardPosition() < position && this.leg.readHeard(block) > 0);
  }

  #emitEnding(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#successor?.onAbandoned()
    this.#successor = null
    this.#emit({ type: 'ending' })
  }

  async #reportOf(end: LegEnd): Promise<CallReport> {
    this.#stopReading?.()
    this.#limit?.cancel()
    this.#guarded(handler => handler.stop())
    await this.#settled(this.#handler)
    const result = this.#handler?.result
    return {
      run: runResult(end, this.#ending, this.leg.sentCredentials),
      direction: end.direction,
      transport: this.#transport,
      utterances: result?.utterances ?? [],
      timeline: result?.timeline ?? [],
      digits: result?.digits ?? '',
      latencies: result?.latencies ?? [],
      preemptive: result?.preemptive ?? null,
      end,
    }
  }

  /** Resolves when the handler has settled, or after `SETTLE_MS`, so that a server that never answers does not keep the call. */
  #settled(handler: CallHandler | null): Promise<void> {
    if (handler === null) return Promise.resolve()
    return new Promise(resolve => {
      const timer = this.#time.at(this.#time.now() + SETTLE_MS, resolve)
      const done = () => {
        timer.cancel()
        resolve()
      }
      handler.settled().then(done, done)
    })
  }
}
