import type { SipRequest } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import type { Flow } from '../transport/transport.ts'
import { METHODS } from './abilities.ts'
import type { DialogSession } from './invite-session.ts'
import { receiveNotify } from './notify.ts'
import { answerOptions } from './options.ts'
import { respond, type UaContext } from './ua-context.ts'

/** What is done with a request in a dialog, by method. */
type Handler = (ctx: UaContext, session: DialogSession, transaction: ServerTransaction) => void

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  [
    'BYE',
    (ctx, session, transaction) => {
      transaction.respond(respond(ctx, transaction.request, 200))
      session.receiveBye(transaction.request)
    },
  ],
  [
    'INVITE',
    (ctx, session, transaction) => {
      if (session.state === 'confirmed') session.reinvites.receive(transaction)
      // 14.2: the first INVITE has no final response yet; or the session is on its way out.
      else if (session.state === 'terminating') transaction.respond(respond(ctx, transaction.request, 481))
      else transaction.respond(respond(ctx, transaction.request, 500, { extra: [['Retry-After', '5']] }))
    },
  ],
  ['INFO', (_ctx, session, transaction) => transaction.respond(session.infos.receive(transaction.request))],
  [
    'NOTIFY',
    (ctx, session, transaction) => transaction.respond(receiveNotify(ctx, session.refers, transaction.request)),
  ],
  ['OPTIONS', (ctx, _session, transaction) => transaction.respond(answerOptions(ctx, transaction.request))],
  // Whoever may move a call is decided by our own policy, never by the far end.
  ['REFER', (ctx, _session, transaction) => transaction.respond(respond(ctx, transaction.request, 403))],
])

/** A request of the peer in one of the session's dialogs (RFC 3261 section 12.2.2). */
export function receiveInDialog(
  ctx: UaContext,
  session: DialogSession,
  dialogId: string,
  request: SipRequest,
  flow: Flow,
): void {
  const transaction: ServerTransaction | undefined = ctx.layer.servers.start(request, flow, {
    onCancel: () => session.reinvites.cancelled(transaction),
  })
  if (transaction === undefined) {
    const busy = respond(ctx, request, 503, { extra: [['Retry-After', '5']] })
    ctx.layer.servers.respondStatelessly(request, flow, busy)
    return
  }
  const { dialog } = session.core
  if (dialog === undefined || dialog.id !== dialogId) {
    // An early dialog of an outbound call: nothing that the callee may ask there is known to us yet.
    const status = request.method === 'OPTIONS' ? 200 : 481
    transaction.respond(status === 200 ? answerOptions(ctx, request) : respond(ctx, request, 481))
    return
  }
  session.core.flow = flow
  // 12.2.2: out of order.
  if (!dialog.acceptRemoteSequence(request.cseq.sequence)) {
    transaction.respond(respond(ctx, request, 500))
    return
  }
  const handler = HANDLERS.get(request.method)
  if (handler !== undefined) handler(ctx, session, transaction)
  // 8.2.1
  else transaction.respond(respond(ctx, request, 405, { extra: [['Allow', METHODS.join(', ')]] }))
}
