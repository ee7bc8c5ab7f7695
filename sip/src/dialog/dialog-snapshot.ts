import { hasFields } from './stored-fields.ts'

/**
 * A dialog's state (RFC 3261 section 12) as plain data, JSON-safe: enough for another process to send a request in it.
 * All URIs and addresses are in wire form.
 */
export interface DialogSnapshot {
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  /** From of requests that we send, without the tag: `"Name" <sip:…>`. */
  readonly localAddress: string
  /** To of requests that we send, without the tag. */
  readonly remoteAddress: string
  /** In the order in which we write Route headers: `<sip:…;lr>`. */
  readonly routeSet: readonly string[]
  /** Request-URI of requests that we send. */
  readonly remoteTarget: string
  /** The last CSeq that we used. */
  readonly localSequence: number
  /** The last CSeq that the peer used; null before its first request. */
  readonly remoteSequence: number | null
  /** The name that a re-dialled TLS connection has to prove; null: the host of the first route or the remote target. */
  readonly serverName: string | null
}

/** Type guard for stored values. It does not parse the addresses: `Dialog.restore` does. */
export function isDialogSnapshot(value: unknown): value is DialogSnapshot {
  return hasFields(value, {
    callId: 'text',
    localTag: 'text',
    remoteTag: 'text',
    localAddress: 'text',
    remoteAddress: 'text',
    routeSet: 'texts',
    remoteTarget: 'text',
    localSequence: 'number',
    remoteSequence: 'number or null',
    serverName: 'text or null',
  })
}
