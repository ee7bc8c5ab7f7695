import type { Dialog } from '../dialog/dialog.ts'
import type { SipResponse } from '../message/message.ts'
import type { Flow } from '../transport/transport.ts'
import { headersWith } from './custom-headers.ts'
import { sendInDialog } from './in-dialog-request.ts'
import { reliableSequence } from './rack.ts'
import type { Body } from './session.ts'
import { bodyOf, type SessionCore } from './session-core.ts'

/** "reliable": it has been acknowledged; "dropped": repeated, or one before it is still missing. */
export type ProgressKind = 'unreliable' | 'reliable' | 'dropped'

/** Reliable provisional responses to our INVITE (RFC 3262 section 4), per early dialog. */
export class PrackClient {
  readonly #core: SessionCore
  /** The RSeq acknowledged last, and the answer to our offer, by To tag. */
  readonly #dialogs = new Map<string, { rseq: number; answer: Body | undefined }>()

  constructor(core: SessionCore) {
    this.#core = core
  }

  /** Handles a provisional response in a tracked early dialog. */
  receive(response: SipResponse, toTag: string, dialog: Dialog, flow: Flow): ProgressKind {
    const rseq = reliableSequence(response.headers)
    if (rseq === undefined) return 'unreliable'
    const known = this.#dialogs.get(toTag)
    // Section 4: strictly in order; the PRACK of one that comes again is repeated by its own transaction.
    if (known !== undefined && rseq !== known.rseq + 1) return 'dropped'
    this.#dialogs.set(toTag, { rseq, answer: known?.answer ?? bodyOf(response) })
    this.#acknowledge(response, rseq, dialog, flow)
    return 'reliable'
  }

  #acknowledge(response: SipResponse, rseq: number, dialog: Dialog, flow: Flow): void {
    const { ctx, identity } = this.#core
    const { sequence, method } = response.cseq
    sendInDialog(ctx, {
      dialog,
      identity,
      flow,
      method: 'PRACK',
      headers: headersWith([['RAck', `${rseq} ${sequence} ${method}`]]),
      // The outcome of the PRACK does not matter: the INVITE has its own final response.
      onResponse: () => {},
      onFailure: () => {},
    })
  }

  /** Section 5, RFC 3261 section 13.2.1: the answer to our offer, which no later response changes. */
  answerIn(toTag: string): Body | undefined {
    return this.#dialogs.get(toTag)?.answer
  }
}
