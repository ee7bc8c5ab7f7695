import type { ConversationEvent } from '@parley/conversation'
import type { OwnedRunEnding } from '@parley/runs'

type Ended = Extract<ConversationEvent, { type: 'ended' }>

/** Why a run was stopped before its flow was over. */
export type Stop =
  /** Its cancellation was requested. */
  | 'cancelled'
  /** This process ends, and no other process can continue the conversation. */
  | 'given_up'

type FailureDetail = 'provider_failed' | 'engine_lost' | 'internal'

/** The ending of a run whose flow ended. `error` without a failed provider means that the flow cannot continue. */
export function endingOf({ outcome, ended_by, code }: Pick<Ended, 'outcome' | 'ended_by' | 'code'>): OwnedRunEnding {
  if (outcome === 'error') return failedEnding(code === 'provider_failed' ? code : 'internal')
  return ending('completed', outcome, ended_by)
}

/** The ending of a run whose conversation another run continues. */
export function handedOverEnding(successor: string): OwnedRunEnding {
  return ending('completed', 'transferred', 'agent', `agent_swap:${successor}`)
}

export function stoppedEnding(stop: Stop): OwnedRunEnding {
  return stop === 'cancelled' ? ending('cancelled', 'cancelled', 'operator') : failedEnding('engine_lost')
}

export function failedEnding(detail: FailureDetail): OwnedRunEnding {
  return ending('failed', 'error', 'system', detail)
}

function ending(
  state: 'completed' | 'failed' | 'cancelled',
  kind: string,
  endedBy: 'agent' | 'system' | 'operator',
  detail: FailureDetail | `agent_swap:${string}` | null = null,
): OwnedRunEnding {
  return { state, outcome: { kind, detail, sip_status: null, ended_by: endedBy }, disposition: kind }
}
