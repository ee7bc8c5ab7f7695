import type { Dialog } from '../dialog/dialog.ts'
import { HeaderList } from '../message/header-list.ts'
import type { SipResponse } from '../message/message.ts'
import type { RequestFailure } from '../transaction/client-transaction.ts'
import type { Flow } from '../transport/transport.ts'
import type { CallIdentity } from './call-identity.ts'
import { ClientRequest } from './client-request.ts'
import type { Body } from './session.ts'
import { type UaContext, userOf } from './ua-context.ts'

export interface InDialogRequest {
  readonly dialog: Dialog
  readonly identity: CallIdentity
  /** The dialog's connection, if any. */
  readonly flow: Flow | undefined
  readonly method: string
  /** A function is called again for each attempt. */
  readonly headers?: HeaderList | (() => HeaderList)
  readonly body?: Body | undefined
  /** For methods that refresh the target (RFC 3261 section 12.2.1.1): INVITE, UPDATE, REFER. */
  readonly withContact?: boolean
  /** See `ClientRequestOptions`. */
  readonly once?: boolean
  /** See `ClientRequestOptions`. */
  revise?(response: SipResponse): boolean
  onResponse(response: SipResponse, flow: Flow): void
  onFailure(failure: RequestFailure): void
}

/** Sends a request in a dialog (RFC 3261 section 12.2.1.1): its CSeq number is reserved before anything is sent. */
export function sendInDialog(ctx: UaContext, spec: InDialogRequest): ClientRequest {
  const { dialog, body } = spec
  const headers = () => {
    const own = typeof spec.headers === 'function' ? spec.headers() : (spec.headers ?? HeaderList.empty)
    return ctx.userAgentName === undefined ? own : own.with('User-Agent', ctx.userAgentName)
  }
  const request = new ClientRequest(ctx, {
    build: (sequence, contact) =>
      dialog.request(spec.method, sequence, {
        headers: headers(),
        ...(spec.withContact ? { contact } : {}),
        ...(body === undefined ? {} : { body: body.bytes, contentType: body.contentType }),
      }),
    contactUser: userOf(dialog.local.uri),
    sequence: dialog.reserveSequence(),
    reserveSequence: () => dialog.reserveSequence(),
    flow: spec.flow,
    hop: dialog.hop,
    identity: spec.identity,
    once: spec.once ?? false,
    ...(spec.revise === undefined ? {} : { revise: spec.revise }),
    onResponse: (response, flow) => spec.onResponse(response, flow),
    onFailure: failure => spec.onFailure(failure),
  })
  request.start()
  return request
}
