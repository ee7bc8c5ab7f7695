import { IncomingReinvite } from './reinvite-server.ts'
import type { Body } from './session.ts'
import type { SessionCore } from './session-core.ts'
import type { SessionTimer } from './session-timer.ts'
import { IncomingUpdate } from './update-server.ts'

/** The peer's offers in an established call, by re-INVITE or UPDATE: one at a time (RFC 3264 section 4). */
export class IncomingOffers {
  readonly reinvites: IncomingReinvite
  readonly updates: IncomingUpdate

  /** `isOurs`: an offer of ours, or the INVITE itself, is in progress; `onSettled`: an offer of theirs has finished. */
  constructor(
    core: SessionCore,
    timer: SessionTimer,
    hooks: { isOurs(): boolean; onSettled(): void; onUnacknowledged(): void },
  ) {
    this.reinvites = new IncomingReinvite(core, timer, {
      isGlare: () => hooks.isOurs() || this.updates.isPending,
      onSettled: hooks.onSettled,
      onUnacknowledged: hooks.onUnacknowledged,
    })
    this.updates = new IncomingUpdate(core, timer, {
      conflict: () => {
        if (this.reinvites.isPending) return 'theirs'
        return hooks.isOurs() || this.reinvites.isUnderWay ? 'ours' : undefined
      },
      onSettled: hooks.onSettled,
    })
  }

  /** An offer waits for `accept` or `reject`. */
  get isPending(): boolean {
    return this.reinvites.isPending || this.updates.isPending
  }

  /** An offer waits for a decision, or its 2xx for the ACK. */
  get isUnderWay(): boolean {
    return this.reinvites.isUnderWay || this.updates.isPending
  }

  accept(body: Body): void {
    if (this.updates.isPending) this.updates.accept(body)
    else this.reinvites.accept(body)
  }

  reject(status: number, warning: string | undefined): void {
    if (this.updates.isPending) this.updates.reject(status, warning)
    else this.reinvites.reject(status, warning)
  }

  stop(): void {
    this.reinvites.stop()
    this.updates.stop()
  }
}
