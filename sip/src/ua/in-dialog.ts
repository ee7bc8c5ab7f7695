import type { Dialog } from '../dialog/dialog.ts'
import type { SipRequest } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import type { Flow } from '../transport/transport.ts'
import { METHODS } from './capabilities.ts'
import type { DialogSession } from './invite-session.ts'
import { receiveNotify } from './notify.ts'
import { answerOptions } from './options.ts'
import { respond, type UaContext } from './ua-context.ts'

/** Handlers of requests in a dialog, by method. */
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
      if (session.state === 'confirmed') session.offers.reinvites.receive(transaction)
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
  [
    'UPDATE',
    (ctx, session, transaction) => {
      if (session.state === 'confirmed') session.offers.updates.receive(transaction)
      else if (session.state === 'terminating') transaction.respond(respond(ctx, transaction.request, 481))
      else session.offers.updates.receiveEarly(transaction, session.offerAnswered ? undefined : 'theirs')
    },
  ],
  ['PRACK', (_ctx, session, transaction) => session.receivePrack(transaction)],
  ['OPTIONS', (ctx, _session, transaction) => transaction.respond(answerOptions(ctx, transaction.request))],
  // Transfers are decided by our own policy, never by the far end.
  ['REFER', (_ctx, session, transaction) => session.refuseRefer(transaction)],
])

/** In a dialog that is not the session's: an early one of an outbound call, or a fork that was not chosen. */
function receiveEarly(
  ctx: UaContext,
  session: DialogSession,
  early: { readonly dialog: Dialog; readonly offerAnswered: boolean } | undefined,
  transaction: ServerTransaction,
): void {
  const { request } = transaction
  if (request.method === 'OPTIONS') transaction.respond(answerOptions(ctx, request))
  else if (request.method !== 'UPDATE' || early === undefined) transaction.respond(respond(ctx, request, 481))
  else if (!early.dialog.acceptRemoteSequence(request.cseq.sequence)) transaction.respond(respond(ctx, request, 500))
  else {
    if (request.body.length === 0) early.dialog.refreshTarget(request)
    session.offers.updates.receiveEarly(transaction, early.offerAnswered ? undefined : 'ours')
  }
}

/** A request of the peer in one of the session's dialogs (RFC 3261 section 12.2.2). */
export function receiveInDialog(
  ctx: UaContext,
  session: DialogSession,
  dialogId: string,
  request: SipRequest,
  flow: Flow,
): void {
  let transaction: ServerTransaction | undefined
  const started = ctx.layer.servers.start(request, flow, {
    onCancel: () => session.offers.reinvites.cancelled(transaction),
  })
  if (started === undefined) {
    const busy = respond(ctx, request, 503, { extra: [['Retry-After', '5']] })
    ctx.layer.servers.respondStatelessly(request, flow, busy)
    return
  }
  const { dialog } = session.core
  if (dialog === undefined || dialog.id !== dialogId) {
    receiveEarly(ctx, session, session.earlyDialog(dialogId), started)
    return
  }
  // 12.2.2: out of order. Such a request changes nothing, the dialog's connection included.
  if (!dialog.acceptRemoteSequence(request.cseq.sequence)) {
    started.respond(respond(ctx, request, 500))
    return
  }
  session.core.flow = flow
  transaction = session.repeated.admit(started)
  if (transaction === undefined) return
  const handler = HANDLERS.get(request.method)
  if (handler !== undefined) handler(ctx, session, transaction)
  // 8.2.1
  else transaction.respond(respond(ctx, request, 405, { extra: [['Allow', METHODS.join(', ')]] }))
}
