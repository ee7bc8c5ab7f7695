import type { PreemptiveGenerationReport, TimelineItem, TurnLatency, Utterance } from '@parley/conversation'
import type { Ms, Time, Timer } from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent, LegTransport } from '@parley/leg'
import type { OwnedRun } from '@parley/runs'
import type { CallControl, CallHandler } from './call-handler.ts'
import { type LocalEnding, type RunResult, runResult } from './outcome.ts'
import type { Ticker } from './ticker.ts'

/** Longest wait, after the call, for actions that are still in progress. */
const SETTLE_MS: Ms = 5000

/** The run of a call, and its environment. */
export type RunOfCall = Pick<OwnedRun, 'runId' | 'scope'>

interface CallOptions {
  readonly leg: CallLeg
  readonly time: Time
  readonly ticker: Ticker
  /** Creates the handler. May throw; the call then ends as failed. */
  readonly createHandler: (line: CallControl) => CallHandler
  /** The engine hangs up after this long, whatever the handler does; default 25 hours. */
  readonly maxDurationMs?: Ms
  readonly onEvent?: (event: CallEvent, call: Call) => void
  /** The run of the call; default: it is none. */
  readonly run?: RunOfCall
}

export type CallEvent =
  | { readonly type: 'leg'; readonly event: LegEvent }
  | { readonly type: 'timeline'; readonly item: TimelineItem }
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
  /** Undefined: the call is no run. */
  readonly run: RunOfCall | undefined
  /** Resolves when the call is over, its recording complete and its handler settled; never rejects. */
  readonly report: Promise<CallReport>
  readonly #handler: CallHandler | null
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
    this.run = options.run
    this.#time = options.time
    this.#ticker = options.ticker
    this.#onEvent = options.onEvent
    this.#handler = this.#createHandler(options.createHandler)
    this.#limit = this.#time.at(this.#time.now() + (options.maxDurationMs ?? 25 * 3_600_000), () =>
      this.#end('max_duration'),
    )
    this.report = new Promise(resolve => {
      this.leg.onEvent(event => {
        if (event.type !== 'ended') return this.#onLeg(event)
        this.#emitEnding()
        void this.#reportOf(event.end).then(report => {
          resolve(report)
          this.#emit({ type: 'leg', event })
          this.#emit({ type: 'ended', report })
        })
      })
    })
    if (this.#handler === null) this.leg.hangUp()
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

  /** Value of a variable of the agent's flow. */
  variable(name: string): string | undefined {
    return this.#handler?.variable?.(name)
  }

  #createHandler(createHandler: CallOptions['createHandler']): CallHandler | null {
    try {
      return createHandler({
        leg: this.leg,
        end: why => this.#end(why),
        addTimelineItem: item => this.#emit({ type: 'timeline', item }),
      })
    } catch {
      this.#ending = 'internal'
      return null
    }
  }

  /** A listener's error ends its own call and no other. It may come from a timer, where no caller would catch it. */
  #emit(event: CallEvent): void {
    try {
      this.#onEvent?.(event, this)
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
    this.#guarded(handler => handler.onLeg(event))
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
    this.#ending ??= why
    this.#guarded(handler => handler.stop())
    this.leg.hangUp()
    this.#emitEnding()
  }

  #emitEnding(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#emit({ type: 'ending' })
  }

  async #reportOf(end: LegEnd): Promise<CallReport> {
    this.#stopReading?.()
    this.#limit?.cancel()
    this.#guarded(handler => handler.stop())
    await this.#settled()
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
  #settled(): Promise<void> {
    const handler = this.#handler
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
