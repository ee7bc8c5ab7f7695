import type { StreamLimits } from './stream-limits.ts'
import type { Flow, Target } from './transport.ts'

export interface QueuedSend {
  readonly sendId: number
  readonly bytes: Uint8Array
}

/** How to send to a target. */
type Route =
  | { readonly kind: 'reuse'; readonly flow: Flow }
  | { readonly kind: 'queued' }
  | { readonly kind: 'dial'; readonly key: string }
  | { readonly kind: 'refused'; readonly code: 'too_many_connections' | 'queue_full' }

type Entry =
  | { readonly state: 'dialling'; readonly queue: QueuedSend[]; bytes: number }
  | { readonly state: 'established'; readonly flow: Flow }

/**
 * Connections we opened, by (transport, address, port, certificate name): RFC 3261 section 18 reuse. A flow verified
 * for one name is never used for another. One dial at a time per key; sends wait behind it in order. Connections that
 * a peer opened are not in here: only their Flow reaches them.
 */
export class ConnectionTable {
  readonly #limits: Pick<StreamLimits, 'maxDialled' | 'maxQueuedSends' | 'maxQueuedBytes'>
  readonly #entries = new Map<string, Entry>()
  readonly #keyOfFlow = new Map<string, string>()

  constructor(limits: Pick<StreamLimits, 'maxDialled' | 'maxQueuedSends' | 'maxQueuedBytes'>) {
    this.#limits = limits
  }

  /** Connections open or being opened. */
  get size(): number {
    return this.#entries.size
  }

  /** For `dial` the send is already queued; the caller must then call `established` or `failed`. */
  route(target: Target, send: QueuedSend): Route {
    const key = connectionKey(target)
    const entry = this.#entries.get(key)
    if (entry === undefined) {
      if (this.#entries.size >= this.#limits.maxDialled) return { kind: 'refused', code: 'too_many_connections' }
      this.#entries.set(key, { state: 'dialling', queue: [send], bytes: send.bytes.length })
      return { kind: 'dial', key }
    }
    if (entry.state === 'established') return { kind: 'reuse', flow: entry.flow }
    const bytes = entry.bytes + send.bytes.length
    if (entry.queue.length >= this.#limits.maxQueuedSends || bytes > this.#limits.maxQueuedBytes)
      return { kind: 'refused', code: 'queue_full' }
    entry.queue.push(send)
    entry.bytes = bytes
    return { kind: 'queued' }
  }

  /** The dial for `key` succeeded; returns what waited for it, oldest first. */
  established(key: string, flow: Flow): readonly QueuedSend[] {
    const entry = this.#entries.get(key)
    if (entry?.state !== 'dialling') return []
    this.#entries.set(key, { state: 'established', flow })
    this.#keyOfFlow.set(flow.id, key)
    return entry.queue
  }

  /** The dial for `key` failed; returns what waited for it, oldest first. */
  failed(key: string): readonly QueuedSend[] {
    const entry = this.#entries.get(key)
    if (entry?.state !== 'dialling') return []
    this.#entries.delete(key)
    return entry.queue
  }

  /** Removes a flow that ended or must not be used for new sends; unknown flows are ignored. */
  remove(flow: Flow): void {
    const key = this.#keyOfFlow.get(flow.id)
    if (key === undefined) return
    this.#keyOfFlow.delete(flow.id)
    this.#entries.delete(key)
  }
}

/** TCP verifies no certificate name, so its connections are shared between names. */
function connectionKey(target: Target): string {
  const name = target.transport === 'tls' ? target.serverName.toLowerCase() : ''
  return `${target.transport}|${target.address}|${target.port}|${name}`
}
