import type { UnixMs } from '@parley/kernel'
import type { ObservedMessage } from '@parley/leg'
import { redactMessage } from './redact-message.ts'

/** Limits of one run. */
const MAX_MESSAGES = 200
const MAX_BYTES = 256 * 1024
/** Inbound calls whose run does not exist yet, and the messages of each. */
const MAX_EXPECTED = 64
const MAX_EARLY_MESSAGES = 8

/** A SIP message of a call, without credentials and keys. */
export interface LadderMessage {
  readonly callId: string
  readonly at: UnixMs
  readonly direction: 'in' | 'out'
  readonly transport: 'udp' | 'tcp' | 'tls'
  /** `address:port`; an IPv6 address is in brackets. */
  readonly source: string
  readonly destination: string
  readonly message: string
}

/** A message of a run by its place, from 1; `message` null: the limit is reached, and further messages are not kept. */
export interface RunLadderEntry extends Omit<LadderMessage, 'callId' | 'message'> {
  readonly place: number
  readonly message: string | null
}

interface CallLaddersOptions {
  readonly wallClock: () => UnixMs
  /** Receives every message of every run, without the limits of a run. */
  readonly onMessage?: (message: LadderMessage) => void
}

interface Arrived {
  readonly at: UnixMs
  readonly message: ObservedMessage
}

/** The ladder of one run. */
interface RunLadder {
  readonly secrets: readonly string[]
  readonly add: (entry: RunLadderEntry) => void
  messages: number
  bytes: number
  isFull: boolean
}

/** Passes the SIP messages of calls to their runs, at most 200 and 256 KiB a run. */
export class CallLadders {
  readonly #options: CallLaddersOptions
  /** By Call-ID. */
  readonly #ladders = new Map<string, RunLadder>()
  /** Messages of inbound calls whose run does not exist yet, by Call-ID, the oldest call first. */
  readonly #early = new Map<string, Arrived[]>()
  #last: Arrived | null = null

  constructor(options: CallLaddersOptions) {
    this.#options = options
  }

  /** Called with every message that passes the transport. */
  observe(message: ObservedMessage): void {
    const arrived = { at: this.#options.wallClock(), message }
    const ladder = this.#ladders.get(message.callId)
    if (ladder !== undefined) return this.#add(ladder, arrived)
    this.#last = arrived
    const early = this.#early.get(message.callId)
    if (early !== undefined && early.length < MAX_EARLY_MESSAGES) early.push(arrived)
  }

  /** Keeps the message observed last, which has this Call-ID, and those that follow, until the call has a run. */
  expect(callId: string): void {
    if (this.#last?.message.callId !== callId || this.#ladders.has(callId) || this.#early.has(callId)) return
    this.#early.set(callId, [this.#last])
    if (this.#early.size <= MAX_EXPECTED) return
    for (const oldest of this.#early.keys()) {
      this.#early.delete(oldest)
      return
    }
  }

  /**
   * Passes the messages of the call to `add`, those kept before first, until the returned function is called. `secrets`: texts
   * to remove from them.
   */
  attach(callId: string, secrets: readonly string[], add: RunLadder['add']): () => void {
    const ladder: RunLadder = { secrets, add, messages: 0, bytes: 0, isFull: false }
    this.#ladders.set(callId, ladder)
    const early = this.#early.get(callId) ?? []
    this.#early.delete(callId)
    for (const arrived of early) this.#add(ladder, arrived)
    return () => {
      for (const [id, attached] of this.#ladders) if (attached === ladder) this.#ladders.delete(id)
    }
  }

  /** The call has another Call-ID as well, because a target that got the first one sent nothing. */
  follow(callId: string, nextCallId: string): void {
    const ladder = this.#ladders.get(callId)
    if (ladder !== undefined) this.#ladders.set(nextCallId, ladder)
  }

  #add(ladder: RunLadder, { at, message: { direction, callId, flow, text } }: Arrived): void {
    const { onMessage } = this.#options
    if (ladder.isFull && onMessage === undefined) return
    const [near, far] = [addressOf(flow.local), addressOf(flow.remote)]
    const [source, destination] = direction === 'in' ? [far, near] : [near, far]
    const message = redactMessage(text(), ladder.secrets)
    const facts = { at, direction, transport: flow.transport, source, destination }
    onMessage?.({ ...facts, callId, message })
    if (ladder.isFull) return
    const bytes = Buffer.byteLength(message)
    ladder.isFull = ladder.messages === MAX_MESSAGES || ladder.bytes + bytes > MAX_BYTES
    ladder.messages++
    ladder.bytes += bytes
    ladder.add({ ...facts, place: ladder.messages, message: ladder.isFull ? null : message })
  }
}

function addressOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
