import type { Ms, Timer } from '@parley/kernel'
import type { Flow } from '../transport/transport.ts'
import type { ClientRequest } from './client-request.ts'
import type { SessionCore } from './session-core.ts'

/** Pause after a failed attempt; it doubles up to the maximum. A connection that is lost again soon waits as long. */
const FIRST_PAUSE_MS: Ms = 1000
const MAX_PAUSE_MS: Ms = 4000

interface Recovery {
  readonly lost: Flow
  readonly deadline: Timer
  pause: Ms
  timer: Timer | undefined
  probe: ClientRequest | undefined
}

/**
 * Restores the connection of a call over TLS when it closes: an OPTIONS in the dialog (RFC 3261 sections 11 and 12.2) dials along the route
 * set at once, and shows whether the peer still has the call. Without it the loss would be noticed only by the next request.
 *
 *     idle --connection closed--> probing --any final response but 408 and 481--> idle
 *     probing --transport failure--> pausing --> probing
 *     probing, pausing --request of the peer on another connection--> idle
 *     probing --408, 481--> gone
 *     probing, pausing --64*T1--> gone
 */
export class ConnectionRecovery {
  readonly #core: SessionCore
  readonly #onGone: (cause: 'timeout' | 'protocol', detail: string) => void
  #recovery: Recovery | undefined
  #probedAt: Ms = Number.NEGATIVE_INFINITY

  constructor(core: SessionCore, onGone: (cause: 'timeout' | 'protocol', detail: string) => void) {
    this.#core = core
    this.#onGone = onGone
  }

  /**
   * A connection closed. Nothing happens unless it carries this call, over TLS; `code` "idle": we closed it ourselves, and
   * the next request dials.
   */
  onFlowClosed(lost: Flow, code: string): void {
    const { ctx, state, flow, callId } = this.#core
    if (lost.transport !== 'tls' || code === 'idle' || state !== 'confirmed' || flow?.id !== lost.id) return
    const { time, timers } = ctx
    this.stop()
    ctx.log('warn', 'connection_lost', `the connection of call ${callId} closed (${code}) and is dialled again`)
    const deadline = time.at(time.now() + 64 * timers.t1, () => {
      if (!this.#isOver(recovery)) this.#end('timeout', 'its connection closed and could not be restored')
    })
    const recovery: Recovery = { lost, deadline, pause: FIRST_PAUSE_MS, timer: undefined, probe: undefined }
    this.#recovery = recovery
    // A request that is in progress dials by itself; another one with a higher CSeq number might overtake it.
    const least = this.#core.hasPendingRequests ? FIRST_PAUSE_MS : 0
    const wait = Math.max(least, this.#probedAt + MAX_PAUSE_MS - time.now())
    if (wait > 0) this.#probeAfter(recovery, wait)
    else this.#probe(recovery)
  }

  #probeAfter(recovery: Recovery, wait: Ms): void {
    const { time } = this.#core.ctx
    recovery.timer = time.at(time.now() + wait, () => this.#probe(recovery))
  }

  #probe(recovery: Recovery): void {
    const { time } = this.#core.ctx
    if (this.#isOver(recovery)) return
    this.#probedAt = time.now()
    recovery.probe = this.#core.request({
      method: 'OPTIONS',
      onResponse: ({ status, reason }) => {
        if (status < 200 || this.#recovery !== recovery) return
        if (status === 408) this.#end('timeout', `OPTIONS answered ${status} ${reason}`)
        else if (status === 481) this.#end('protocol', `OPTIONS answered ${status} ${reason}`)
        else this.stop()
      },
      onFailure: failure => {
        if (this.#isOver(recovery)) return
        if (failure.cause === 'timeout') this.#end('timeout', `OPTIONS: ${failure.detail}`)
        else {
          this.#probeAfter(recovery, recovery.pause)
          recovery.pause = Math.min(2 * recovery.pause, MAX_PAUSE_MS)
        }
      },
    })
  }

  /** True as well when the peer has sent something on another connection. */
  #isOver(recovery: Recovery): boolean {
    if (this.#recovery === recovery && this.#core.flow?.id !== recovery.lost.id) this.stop()
    return this.#recovery !== recovery
  }

  #end(cause: 'timeout' | 'protocol', detail: string): void {
    this.stop()
    this.#onGone(cause, detail)
  }

  stop(): void {
    const recovery = this.#recovery
    this.#recovery = undefined
    recovery?.deadline.cancel()
    recovery?.timer?.cancel()
    recovery?.probe?.abandon()
  }
}
