import type { PolicyReason } from '@parley/conversation'
import type { LegEnd } from '@parley/leg'

/** How a run ended: the fields `state` and `outcome` of the run resource. */
export interface RunResult {
  readonly state: 'completed' | 'failed' | 'cancelled' | 'rejected'
  readonly outcome: RunOutcome | null
}

interface RunOutcome {
  readonly kind:
    | 'completed'
    | 'no_answer'
    | 'voicemail'
    | 'transferred'
    | 'busy'
    | 'caller_hung_up'
    | 'agent_hung_up'
    | 'max_duration'
    | 'silence'
    | 'error'
    | 'cancelled'
  readonly detail: OutcomeDetail | null
  readonly sip_status: number | null
  /** `caller` and `callee` are the far end of an inbound and of an outbound call. */
  readonly ended_by: 'caller' | 'callee' | 'agent' | 'system' | 'operator'
}

type OutcomeDetail =
  | FailureDetail
  /** The callee refused the call (603, 607, 608): calling again is not wanted. */
  | 'declined'
  /** The far end of an outbound call hung up. */
  | 'callee_hung_up'
  | MachineDetail

/** What answered instead of a person, and what the agent did. */
type MachineDetail =
  /** A mailbox: the agent hung up, or its whole message was sent. */
  | 'hung_up'
  | 'message_left'
  | 'mailbox_unavailable'
  | 'ivr'
  /** A call screener, and no person came to the phone. */
  | 'screener'
  | 'fax'
  | 'announcement'

export type FailureDetail =
  /** The ledger denied the INVITE. */
  | PolicyReason
  | 'number_not_found'
  /** 3xx: the far end named another address, which is not called. */
  | 'moved'
  /** 403 to an INVITE without credentials. */
  | 'forbidden'
  | 'trunk_auth_failed'
  | 'trunk_unreachable'
  | 'media_refused'
  | 'recording_unavailable'
  | 'sip_error'
  | 'provider_failed'
  | 'media_lost'
  | 'signalling_lost'
  | 'internal'

/** Why our side ended the call. */
export type LocalEnding =
  /** The flow reached its end; the agent hung up by a tool; the caller was silent for too long. */
  | 'completed'
  | 'agent_hung_up'
  | 'silence'
  | 'transferred'
  | 'max_duration'
  | 'cancelled'
  | 'provider_failed'
  | 'internal'
  | MachineEnding

/** A machine answered, and the agent ended the call. */
export type MachineEnding =
  | 'voicemail'
  | 'message_left'
  | 'mailbox_unavailable'
  | 'ivr'
  | 'screener'
  | 'fax'
  | 'announcement'

const MACHINES: Readonly<Record<MachineEnding, { readonly kind: RunOutcome['kind']; readonly detail: MachineDetail }>> =
  {
    voicemail: { kind: 'voicemail', detail: 'hung_up' },
    message_left: { kind: 'voicemail', detail: 'message_left' },
    mailbox_unavailable: { kind: 'voicemail', detail: 'mailbox_unavailable' },
    ivr: { kind: 'agent_hung_up', detail: 'ivr' },
    screener: { kind: 'no_answer', detail: 'screener' },
    fax: { kind: 'no_answer', detail: 'fax' },
    announcement: { kind: 'no_answer', detail: 'announcement' },
  }

/** The disposition of a call that a machine answered; undefined: the detail does not name a machine. */
export function machineDisposition(detail: string | null): string | undefined {
  if (detail === 'hung_up' || detail === 'message_left') return 'voicemail'
  return Object.values(MACHINES).find(machine => machine.detail === detail)?.detail
}

/**
 * The result of a run from the end of its leg. `local`: why our side ended the call; null: the far end, the network or a
 * failure ended it. `hadCredentials`: whether the last INVITE carried credentials; default false.
 */
export function runResult(end: LegEnd, local: LocalEnding | null, hadCredentials = false): RunResult {
  if (local === 'cancelled') return finished('cancelled', 'cancelled', end, 'operator')
  if (local === 'internal') return failed(local, end)
  if (!end.answered)
    return end.direction === 'inbound' ? inboundUnanswered(end) : outboundUnanswered(end, hadCredentials)
  if (local === 'provider_failed') return failed(local, end)
  if (end.cause === 'media-lost') return failed('media_lost', end)
  if (end.cause === 'internal') return failed('internal', end)
  if (local === 'transferred') return finished('completed', 'transferred', end, 'agent')
  if (end.cause === 'bye' && end.by === 'remote') return hungUpByFarEnd(end)
  // The far end stopped responding or no longer has the dialog (481): neither side hung up.
  if (end.by === 'remote') return failed('signalling_lost', end)
  if (local === 'max_duration') return finished('completed', 'max_duration', end, 'system')
  if (local === 'silence') return finished('completed', 'silence', end, 'system')
  if (local !== null && local in MACHINES) {
    const { kind, detail } = MACHINES[local as MachineEnding]
    return finished('completed', kind, end, 'agent', detail)
  }
  if (local === 'completed' || local === 'agent_hung_up') return finished('completed', local, end, 'agent')
  return failed('signalling_lost', end)
}

function inboundUnanswered(end: LegEnd): RunResult {
  if (end.by !== 'remote') return { state: 'rejected', outcome: null }
  if (end.cause === 'not-joined') return finished('completed', 'no_answer', end, 'system')
  return end.cause === 'timeout' ? failed('signalling_lost', end) : hungUpByFarEnd(end)
}

/** The kind is the same in both directions; `detail` and `ended_by` name the callee of an outbound call. */
function hungUpByFarEnd(end: LegEnd): RunResult {
  return end.direction === 'inbound'
    ? finished('completed', 'caller_hung_up', end, 'caller')
    : finished('completed', 'caller_hung_up', end, 'callee', 'callee_hung_up')
}

function outboundUnanswered(end: LegEnd, hadCredentials: boolean): RunResult {
  if (end.cause === 'transport') return failed('trunk_unreachable', end)
  // The ledger or the database failed before the INVITE was sent.
  if (end.cause === 'withheld') return failed('internal', end)
  if (end.cause === 'media-refused') return failed('media_refused', end)
  if (end.cause === 'internal') return failed('internal', end)
  if (end.cause === 'recording-unavailable') return failed('recording_unavailable', end)
  if (end.sipStatus !== null && end.sipStatus >= 300 && end.sipStatus < 400) return failed('moved', end)
  switch (end.sipStatus) {
    case 408:
    case 480:
    case 487:
      return finished('completed', 'no_answer', end, 'system')
    case 486:
    case 600:
      return finished('completed', 'busy', end, 'callee')
    // 607 and 608: RFC 8197, RFC 8688.
    case 603:
    case 607:
    case 608:
      return finished('completed', 'busy', end, 'callee', 'declined')
    case 404:
    case 410:
    case 484:
    case 604:
      return failed('number_not_found', end)
    case 403:
      return failed(hadCredentials ? 'trunk_auth_failed' : 'forbidden', end)
    case 401:
    case 407:
      return failed('trunk_auth_failed', end)
    case 415:
    case 488:
    case 606:
      return failed('media_refused', end)
    default:
      return failed('sip_error', end)
  }
}

function finished(
  state: 'completed' | 'cancelled',
  kind: RunOutcome['kind'],
  end: LegEnd,
  endedBy: RunOutcome['ended_by'],
  detail: OutcomeDetail | null = null,
): RunResult {
  return { state, outcome: { kind, detail, sip_status: end.sipStatus, ended_by: endedBy } }
}

function failed(detail: FailureDetail, end: LegEnd): RunResult {
  return { state: 'failed', outcome: { kind: 'error', detail, sip_status: end.sipStatus, ended_by: 'system' } }
}
