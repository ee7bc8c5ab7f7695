import type { DialogueInput } from '@parley/dialogue'
import type { Ms, Samples, Time, Timer } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import type { CallClock } from './call-clock.ts'
import { heardSince } from './heard-since.ts'

/** How long the greeting waits for the far end's first packet, which shows that its media is open. */
const FIRST_PACKET_WAIT_MS: Ms = 400

interface CallSetupOptions {
  readonly direction: CallLeg['direction']
  readonly clock: CallClock
  readonly time: Time
  /** The far end has answered; called before `onConnected`. */
  readonly onAnswered: () => void
  /** The conversation can start. Called once. */
  readonly onConnected: () => void
}

/** The setup of a call: early media, the answer, and the far end's first packet. */
export class CallSetup {
  readonly #options: CallSetupOptions
  #hasEarlyMedia = false
  #answeredAt: Ms | null = null
  #callerHeard = false
  #connecting: Timer | null = null
  #isConnected = false

  constructor(options: CallSetupOptions) {
    this.#options = options
  }

  /** What is heard now comes from before the answer. */
  get isEarlyMedia(): boolean {
    return this.#hasEarlyMedia && this.#answeredAt === null
  }

  earlyMedia(): void {
    this.#hasEarlyMedia = true
  }

  answered(): void {
    const { time, onAnswered } = this.#options
    this.#answeredAt = time.now()
    onAnswered()
    this.#connecting = time.at(time.now() + FIRST_PACKET_WAIT_MS, () => this.#connect())
    if (this.#callerHeard) this.#connect()
  }

  /** The first packet of an inbound call may overtake the ACK; that of an outbound call may be early media. */
  firstPacket(atSample: Samples): void {
    const { time, clock, direction } = this.#options
    clock.observe(time.now(), atSample)
    this.#callerHeard = direction === 'inbound'
    this.#connect()
  }

  /** The input without words of early media; null: nothing is left of it. */
  sinceAnswer(input: DialogueInput): DialogueInput | null {
    return this.#hasEarlyMedia ? heardSince(this.#answeredAt!, input) : input
  }

  stop(): void {
    this.#connecting?.cancel()
  }

  /** The far end was heard or the wait is over. Early media before the answer does not count. */
  #connect(): void {
    if (this.#isConnected || this.#connecting === null) return
    this.#isConnected = true
    this.#connecting.cancel()
    this.#options.onConnected()
  }
}
