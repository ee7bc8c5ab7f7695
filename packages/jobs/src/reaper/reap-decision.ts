import type { JsonObject, LostRun, PhoneState, RunEnding } from '@parley/store'

/** A run whose owners died this often is not released again. Each owner, and each reaper, raised the fence. */
const MAX_OWNERS = 3

const OVER = new Set<PhoneState | null>(['ended', 'rejected', 'expired', 'setup_failed'])

/** What happens to a run whose owner died. */
type ReapDecision =
  /** Nothing had started: another process may claim it. */
  | { readonly type: 'release' }
  | {
      readonly type: 'finish'
      readonly ending: RunEnding
      /** It started before its state became `running`. */
      readonly isStarted: boolean
      /** A far end may still be in the call. */
      readonly hasFarEnd: boolean
    }

export function decideReap(run: LostRun): ReapDecision {
  const isPhone = run.channel === 'phone'
  const isInbound = run.mode === 'inbound'
  const hasBegun = run.dial !== null || run.dialog !== null || run.phone_state === 'awaiting_sip'
  if (run.state !== 'admitted' || hasBegun) {
    // An outbound run without a stored INVITE has sent none: an INVITE is stored before it is sent.
    const hasFarEnd = isPhone && (isInbound || hasBegun)
    return { type: 'finish', ending: lostEnding(run), isStarted: run.state === 'admitted', hasFarEnd }
  }
  const notStarted = { type: 'finish', isStarted: false, hasFarEnd: isPhone && isInbound } as const
  if (run.cancel_asked) return { ...notStarted, ending: cancelled(run, null) }
  // A call that reached the dead process cannot be answered by another process.
  if (!isInbound && Number(run.fence) < 2 * MAX_OWNERS) return { type: 'release' }
  return { ...notStarted, ending: expired(run) }
}

function lostEnding(run: LostRun): RunEnding {
  return {
    ...(run.cancel_asked ? cancelled(run, 'engine_lost') : failed(run)),
    ...(run.connected_ms !== null && { connected_ms: Number(run.connected_ms) }),
    engine_lost: true,
  }
}

function failed(run: LostRun): RunEnding {
  const isUnanswered = run.channel === 'phone' && !wasAnswered(run)
  return {
    state: 'failed',
    ...phoneEnd(run, isUnanswered ? 'setup_failed' : 'ended'),
    outcome: outcome('error', 'engine_lost', 'system'),
    disposition: isUnanswered ? 'engine_lost' : 'error',
  }
}

function cancelled(run: LostRun, detail: string | null): RunEnding {
  return {
    state: 'cancelled',
    ...phoneEnd(run, 'ended'),
    outcome: outcome('cancelled', detail, 'operator'),
    disposition: 'cancelled',
  }
}

function expired(run: LostRun): RunEnding {
  return { state: 'expired', ...phoneEnd(run, 'expired'), outcome: null, disposition: 'expired' }
}

function wasAnswered({ dialog, phone_state }: LostRun): boolean {
  return dialog !== null || phone_state === 'active' || phone_state === 'terminating'
}

/** The state of a call that its owner had ended already does not change. */
function phoneEnd(run: LostRun, phone_state: PhoneState): Pick<RunEnding, 'phone_state'> {
  return run.channel !== 'phone' || OVER.has(run.phone_state) ? {} : { phone_state }
}

function outcome(kind: string, detail: string | null, ended_by: string): JsonObject {
  return { kind, detail, sip_status: null, ended_by }
}
