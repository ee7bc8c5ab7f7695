import type { Dialog } from '../dialog/dialog.ts'
import type { Flow } from '../transport/transport.ts'
import type { CallIdentity } from './call-identity.ts'
import { reasonHeaders } from './cancel.ts'
import { sendInDialog } from './in-dialog-request.ts'
import type { HeaderReason } from './session.ts'
import type { UaContext } from './ua-context.ts'

/** Outcome of a BYE. */
export interface ByeOutcome {
  /** The peer sent a final response. Any status counts: a 481 too means that the call is over (RFC 3261 section 15.1.1). */
  readonly confirmed: boolean
  /** Final status; undefined without one. */
  readonly status: number | undefined
  readonly detail: string
}

/** RFC 3261 section 15.1.1. `done` is called once, within Timer F of the last target. */
export function sendBye(
  ctx: UaContext,
  spec: { dialog: Dialog; identity: CallIdentity; flow: Flow | undefined; reason: HeaderReason | undefined },
  done: (outcome: ByeOutcome) => void,
): void {
  sendInDialog(ctx, {
    dialog: spec.dialog,
    identity: spec.identity,
    flow: spec.flow,
    method: 'BYE',
    headers: reasonHeaders(spec.reason),
    onResponse: response => {
      if (response.status < 200) return
      done({ confirmed: true, status: response.status, detail: `BYE answered ${response.status}` })
    },
    onFailure: failure => done({ confirmed: false, status: undefined, detail: `BYE: ${failure.detail}` }),
  })
}
