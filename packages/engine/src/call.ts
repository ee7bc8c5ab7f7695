import { MachineDriver, type Ms, type Time, type Timer } from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent, LegTransport } from '@parley/leg'
import type { TextToSpeech } from '@parley/providers'
import { HeardHistory } from './heard-history.ts'
import { type LocalEnding, type RunResult, runResult } from './outcome.ts'
import { Speaker, type Utterance } from './speaker.ts'
import { type AgentInput, type AgentOutput, TestAgent } from './test-agent.ts'

const LISTEN_EVERY_MS = 100
const HISTORY_MS = 4000

export interface CallOptions {
  readonly leg: CallLeg
  readonly voice: TextToSpeech
  readonly language: string
  readonly time: Time
  /** The engine hangs up after this long; default one hour. */
  readonly maxDurationMs?: Ms
  readonly onEvent?: (event: CallEvent, call: Call) => void
}

export type CallEvent =
  | { readonly type: 'leg'; readonly event: LegEvent }
  | { readonly type: 'utterance'; readonly utterance: Utterance }
  | { readonly type: 'ended'; readonly report: CallReport }

/** Everything that is known of a call once it is over. */
export interface CallReport {
  readonly run: RunResult
  readonly direction: 'inbound' | 'outbound'
  readonly transport: LegTransport | null
  readonly utterances: readonly Utterance[]
  readonly digits: string
  readonly end: LegEnd
}

/** The one owner of a call: a leg, the agent that talks on it, and the verdict at its end. The same for both directions. */
export class Call {
  readonly leg: CallLeg
  /** Resolves when the call is over and its recording complete; never rejects. */
  readonly report: Promise<CallReport>
  readonly #agent = new TestAgent()
  readonly #driver: MachineDriver<AgentInput, AgentOutput>
  readonly #speaker: Speaker
  readonly #history = new HeardHistory(HISTORY_MS)
  readonly #scratch = new Int16Array(4096)
  readonly #time: Time
  readonly #listener: CallOptions['onEvent']
  #listening: Timer | undefined
  #limit: Timer | undefined
  #ending: LocalEnding | null = null
  #transport: LegTransport | null = null

  constructor(options: CallOptions) {
    this.leg = options.leg
    this.#time = options.time
    this.#listener = options.onEvent
    this.#driver = new MachineDriver(this.#agent, options.time, output => this.#perform(output))
    this.#speaker = new Speaker(options.leg, options.voice, options.language, {
      onQuiet: () => this.#driver.handle({ type: 'quiet' }),
      onFailure: () => this.#end('provider_failed'),
      onUtterance: utterance => this.#tell({ type: 'utterance', utterance }),
    })
    this.#limit = this.#time.at(this.#time.now() + (options.maxDurationMs ?? 3_600_000), () =>
      this.#end('max_duration'),
    )
    this.report = new Promise(resolve => {
      this.leg.onEvent(event => {
        if (event.type !== 'ended') return this.#onLeg(event)
        const report = this.#conclude(event.end)
        resolve(report)
        this.#onLeg(event)
        this.#tell({ type: 'ended', report })
      })
    })
  }

  /** An operator ends the call: speech stops, then CANCEL or BYE. */
  cancel(): void {
    this.#end('cancelled')
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
    switch (event.type) {
      case 'answered':
        this.#transport = this.leg.transport
        this.#listen()
        this.#driver.handle({ type: 'connected' })
        return
      case 'digit':
        this.#driver.handle({ type: 'digit', digit: event.digit })
        return
      case 'speech-start':
        this.#driver.handle({ type: 'speech-started' })
        return
      case 'transfer-result':
        if (event.taken) this.#ending ??= 'transferred'
        return
      case 'play-progress':
        this.#speaker.onProgress(event)
        return
      default:
        return
    }
  }

  #perform(output: AgentOutput): void {
    switch (output.type) {
      case 'say':
        return this.#speaker.say(output.text, output.node)
      case 'stop-speaking':
        return this.#speaker.stop()
      case 'echo':
        this.#drainHeard()
        return this.#speaker.playBack(this.#history.newest(output.durationMs))
      case 'hang-up':
        return this.#end('finished')
    }
  }

  #end(why: LocalEnding): void {
    this.#ending ??= why
    this.#speaker.stop()
    this.leg.hangUp()
  }

  /** Heard audio has to be taken out of its ring in time, whoever wants it. */
  #listen(): void {
    this.#drainHeard()
    this.#listening = this.#time.at(this.#time.now() + LISTEN_EVERY_MS, () => this.#listen())
  }

  #drainHeard(): void {
    for (let count = this.#scratch.length; count === this.#scratch.length; ) {
      count = this.leg.readHeard(this.#scratch)
      this.#history.write(this.#scratch.subarray(0, count))
    }
  }

  #conclude(end: LegEnd): CallReport {
    this.#listening?.cancel()
    this.#limit?.cancel()
    this.#driver.stop()
    this.#speaker.stop()
    return {
      run: runResult(end, this.#ending),
      direction: end.direction,
      transport: this.#transport,
      utterances: this.#speaker.utterances,
      digits: this.#agent.digits,
      end,
    }
  }
}
