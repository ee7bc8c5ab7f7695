import { HeaderList } from '../message/header-list.ts'
import type { SipRequest } from '../message/message.ts'
import { parseReason, serialiseReason } from '../message/reason.ts'
import { type InviteAttempt, isInviteAttempt, restoreAttempt } from './invite-attempt.ts'
import type { HeaderReason } from './session.ts'
import type { UaContext } from './ua-context.ts'

/** Ends a dialog or attempt whose call was answered by another fork or another target. */
export const COMPLETED_ELSEWHERE: HeaderReason = { protocol: 'SIP', cause: 200, text: 'Call completed elsewhere' }

/** Outcome of a CANCEL for the INVITE of another process. */
export interface CancelOutcome {
  /**
   * The far end answered 200, or 481: it has no such INVITE, because it never arrived or has already ended. After either
   * nothing rings any more. If the call was answered just before, only the sender of the INVITE learned of it.
   */
  readonly confirmed: boolean
  /** Final status; undefined without one. */
  readonly status: number | undefined
  readonly detail: string
}

/**
 * CANCEL for an INVITE (RFC 3261 section 9.1): its Request-URI, Call-ID, To, From, CSeq number, Route and single Via.
 * It is not challenged, so it carries no credentials.
 */
export function createCancel(invite: SipRequest, reason: HeaderReason | undefined): SipRequest {
  return {
    ...invite,
    method: 'CANCEL',
    via: invite.via.slice(0, 1),
    cseq: { sequence: invite.cseq.sequence, method: 'CANCEL' },
    maxForwards: 70,
    recordRoute: [],
    contact: [],
    headers: reasonHeaders(reason),
    body: new Uint8Array(0),
  }
}

/**
 * RFC 3261 section 9.1 for an INVITE that another process sent: without its connection, and without knowing whether a
 * provisional response came; and for the INVITEs to other targets that were given up before it. `done` is called once, within Timer F, with an
 * unconfirmed outcome if there is one.
 */
export function sendCancel(
  ctx: UaContext,
  spec: { readonly attempt: InviteAttempt; readonly reason: HeaderReason | undefined },
  done: (outcome: CancelOutcome) => void,
): void {
  const earlier = isInviteAttempt(spec.attempt) ? spec.attempt.earlier : undefined
  const attempts = [spec.attempt, ...(earlier ?? [])]
  const outcomes: CancelOutcome[] = []
  for (const attempt of attempts)
    cancelOne(ctx, { attempt, reason: spec.reason }, outcome => {
      outcomes.push(outcome)
      if (outcomes.length === attempts.length) done(outcomes.find(({ confirmed }) => !confirmed) ?? outcome)
    })
}

function cancelOne(
  ctx: UaContext,
  spec: { readonly attempt: InviteAttempt; readonly reason: HeaderReason | undefined },
  done: (outcome: CancelOutcome) => void,
): void {
  const failed = (detail: string) => done({ confirmed: false, status: undefined, detail: `CANCEL: ${detail}` })
  const restored = restoreAttempt(spec.attempt)
  if (restored === undefined) return failed('the attempt cannot be read')
  const where = { flow: undefined, destination: { target: restored.target } }
  const started = ctx.layer.clients.startCancel(createCancel(restored.invite, spec.reason), where, {
    onResponse: ({ status }) => {
      if (status >= 200) done(outcomeOf(status))
    },
    onFailure: failure => failed(failure.detail),
  })
  if (started === undefined) failed('no room for another transaction')
}

function outcomeOf(status: number): CancelOutcome {
  const meaning =
    status === 200
      ? '; the final response to the INVITE goes to the process that sent it, and was not seen'
      : status === 481
        ? ': the far end knows no such INVITE'
        : ''
  return { confirmed: status === 200 || status === 481, status, detail: `CANCEL answered ${status}${meaning}` }
}

/** RFC 3326. */
export function reasonHeaders(reason: HeaderReason | undefined): HeaderList {
  return reason === undefined ? HeaderList.empty : HeaderList.empty.with('Reason', serialiseReason(reason))
}

/** The Reason header of a CANCEL or BYE (RFC 3326) for a log line; empty without one. */
export function reasonText(request: SipRequest): string {
  const given = request.headers.all('Reason').flatMap(line => parseReason(line))[0]
  if (given === undefined) return ''
  return ` (${[given.protocol, given.cause, given.text].filter(part => part !== undefined).join(' ')})`
}
