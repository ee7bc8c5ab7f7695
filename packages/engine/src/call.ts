import type { PreemptiveGenerationReport, TimelineItem, TurnLatency, Utterance } from '@parley/conversation'
import type { Ms, Time, Timer } from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent, LegTransport } from '@parley/leg'
import type { CallControl, CallHandler } from './call-handler.ts'
import { type LocalEnding, type RunResult, runResult } from './outcome.ts'
import type { Ticker } from './ticker.ts'

/** What an agent's server still does after the call is waited for no longer than this. */
const SETTLE_MS: Ms = 5000

interface CallOptions {
  readonly leg: CallLeg
  readonly time: Time
  readonly ticker: Ticker
  /** Who talks. May throw: then the call ends as failed. */
  readonly createHandler: (line: CallControl) => CallHandler
  /** The engine hangs up after this long, whatever the handler does; default 25 hours. */
  readonly maxDurationMs?: Ms
  readonly onEvent?: (event: CallEvent, call: Call) => void
}

export type CallEvent =
  | { readonly type: 'leg'; readonly event: LegEvent }
  | { readonly type: 'timeline'; readonly item: TimelineItem }
  /** Either side has begun to end it. Once. */
  | { readonly type: 'ending' }
  | { readonly type: 'ended'; readonly report: CallReport }

/** Everything that is known of a call once it is over. */
export interface CallReport {
  readonly run: RunResult
  readonly direction: 'inbound' | 'outbound'
  readonly transport: LegTransport | null
  readonly utterances: readonly Utterance[]
  readonly timeline: readonly TimelineItem[]
  readonly digits: string
  /** Of each answer of the agent that was measured, in order. */
  readonly latencies: readonly TurnLatency[]
  readonly preemptive: PreemptiveGenerationReport | null
  readonly end: LegEnd
}

/** The one owner of a call: a leg, whoever talks on it, and the verdict at its end. The same for both directions. */
export class Call {
  readonly leg: CallLeg
  /** Resolves when the call is over, its recording complete and its handler settled; never rejects. */
  readonly report: Promise<CallReport>
  readonly #handler: CallHandler | null
  readonly #time: Time
  readonly #ticker: Ticker
  readonly #listener: CallOptions['onEvent']
  #stopDraining: (() => void) | null = null
  #limit: Timer | undefined
  #ending: LocalEnding | null = null
  #isEnding = false
  #transport: LegTransport | null = null

  constructor(options: CallOptions) {
    this.leg = options.leg
    this.#time = options.time
    this.#ticker = options.ticker
    this.#listener = options.onEvent
    this.#handler = this.#attended(options.createHandler)
    this.#limit = this.#time.at(this.#time.now() + (options.maxDurationMs ?? 25 * 3_600_000), () =>
      this.#end('max_duration'),
    )
    this.report = new Promise(resolve => {
      this.leg.onEvent(event => {
        if (event.type !== 'ended') return this.#onLeg(event)
        this.#tellEnding()
        void this.#conclude(event.end).then(report => {
          resolve(report)
          this.#tell({ type: 'leg', event })
          this.#tell({ type: 'ended', report })
        })
      })
    })
    if (this.#handler === null) this.leg.hangUp()
  }

  /** An operator ends the call: speech stops, then CANCEL or BYE. */
  cancel(): void {
    this.#end('cancelled')
  }

  /** What was said so far. */
  get utterances(): readonly Utterance[] {
    return this.#handler?.result.utterances ?? []
  }

  /** Variables of a live update hold from the agent's next turn on. False: nobody here has any. */
  updateVariables(values: Readonly<Record<string, string>>): boolean {
    if (this.#handler?.updateVariables === undefined) return false
    this.#guarded(handler => handler.updateVariables?.(values))
    return true
  }

  #attended(createHandler: CallOptions['createHandler']): CallHandler | null {
    try {
      return createHandler({
        leg: this.leg,
        end: why => this.#end(why),
        tell: item => this.#tell({ type: 'timeline', item }),
      })
    } catch {
      this.#ending = 'internal'
      return null
    }
  }

  /** A listener's error ends its own call and no other: it also comes up in timers, where nobody would catch it. */
  #tell(event: CallEvent): void {
    try {
      this.#listener?.(event, this)
    } catch {
      this.#ending ??= 'internal'
      this.leg.hangUp()
    }
  }

  #onLeg(event: LegEvent): void {
    this.#tell({ type: 'leg', event })
    if (event.type === 'answered') {
      this.#transport = this.leg.transport
      this.#stopDraining = this.#ticker.add(() => this.#guarded(handler => handler.drain()))
    }
    if (event.type === 'transfer-result' && event.taken) {
      this.#ending ??= 'transferred'
      this.#tellEnding()
    }
    this.#guarded(handler => handler.onLeg(event))
  }

  /** An handler's own fault ends its call and harms nobody else. */
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
    this.#tellEnding()
  }

  #tellEnding(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#tell({ type: 'ending' })
  }

  async #conclude(end: LegEnd): Promise<CallReport> {
    this.#stopDraining?.()
    this.#limit?.cancel()
    this.#guarded(handler => handler.stop())
    await this.#settled()
    const result = this.#handler?.result
    return {
      run: runResult(end, this.#ending),
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

  /** What the agent sent out is still answered; a server that never answers holds no call for ever. */
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
