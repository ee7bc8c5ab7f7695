import type { HeadStartReport, TimelineItem, TurnLatency, Utterance } from '@parley/conversation'
import type { Ms, Time, Timer } from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent, LegTransport } from '@parley/leg'
import type { Attendant, AttendedCall } from './attendant.ts'
import { type LocalEnding, type RunResult, runResult } from './outcome.ts'
import type { Pump } from './pump.ts'

/** What an agent's server still does after the call is waited for no longer than this. */
const SETTLE_MS: Ms = 5000

export interface CallOptions {
  readonly leg: CallLeg
  readonly time: Time
  readonly pump: Pump
  /** Who talks. May throw: then the call ends as failed. */
  readonly attend: (line: AttendedCall) => Attendant
  /** The engine hangs up after this long, whatever the attendant does; default 25 hours. */
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
  readonly headStart: HeadStartReport | null
  readonly end: LegEnd
}

/** The one owner of a call: a leg, whoever talks on it, and the verdict at its end. The same for both directions. */
export class Call {
  readonly leg: CallLeg
  /** Resolves when the call is over, its recording complete and its attendant settled; never rejects. */
  readonly report: Promise<CallReport>
  readonly #attendant: Attendant | null
  readonly #time: Time
  readonly #pump: Pump
  readonly #listener: CallOptions['onEvent']
  #stopDraining: (() => void) | null = null
  #limit: Timer | undefined
  #ending: LocalEnding | null = null
  #isEnding = false
  #transport: LegTransport | null = null

  constructor(options: CallOptions) {
    this.leg = options.leg
    this.#time = options.time
    this.#pump = options.pump
    this.#listener = options.onEvent
    this.#attendant = this.#attended(options.attend)
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
    if (this.#attendant === null) this.leg.hangUp()
  }

  /** An operator ends the call: speech stops, then CANCEL or BYE. */
  cancel(): void {
    this.#end('cancelled')
  }

  /** What was said so far. */
  get utterances(): readonly Utterance[] {
    return this.#attendant?.result.utterances ?? []
  }

  /** Variables of a live update hold from the agent's next turn on. False: nobody here has any. */
  updateVariables(values: Readonly<Record<string, string>>): boolean {
    if (this.#attendant?.updateVariables === undefined) return false
    this.#guarded(attendant => attendant.updateVariables?.(values))
    return true
  }

  #attended(attend: CallOptions['attend']): Attendant | null {
    try {
      return attend({
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
      this.#stopDraining = this.#pump.add(() => this.#guarded(attendant => attendant.drain()))
    }
    if (event.type === 'transfer-result' && event.taken) {
      this.#ending ??= 'transferred'
      this.#tellEnding()
    }
    this.#guarded(attendant => attendant.onLeg(event))
  }

  /** An attendant's own fault ends its call and harms nobody else. */
  #guarded(act: (attendant: Attendant) => void): void {
    if (this.#attendant === null) return
    try {
      act(this.#attendant)
    } catch {
      this.#end('internal')
    }
  }

  #end(why: LocalEnding): void {
    this.#ending ??= why
    this.#guarded(attendant => attendant.stop())
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
    this.#guarded(attendant => attendant.stop())
    await this.#settled()
    const result = this.#attendant?.result
    return {
      run: runResult(end, this.#ending),
      direction: end.direction,
      transport: this.#transport,
      utterances: result?.utterances ?? [],
      timeline: result?.timeline ?? [],
      digits: result?.digits ?? '',
      latencies: result?.latencies ?? [],
      headStart: result?.headStart ?? null,
      end,
    }
  }

  /** What the agent sent out is still answered; a server that never answers holds no call for ever. */
  #settled(): Promise<void> {
    const attendant = this.#attendant
    if (attendant === null) return Promise.resolve()
    return new Promise(resolve => {
      const timer = this.#time.at(this.#time.now() + SETTLE_MS, resolve)
      const done = () => {
        timer.cancel()
        resolve()
      }
      attendant.settled().then(done, done)
    })
  }
}
