import { type Ms, type Time, TransientMap } from '@parley/kernel'
import type { SipMessage } from '../message/message.ts'
import { serialise } from '../message/serialise.ts'
import { stunTransaction } from '../transport/stun.ts'
import { TargetHealth } from '../transport/target-health.ts'
import type { Flow, NextHop, SipTransport, Target, TransportInput, TransportName } from '../transport/transport.ts'

/** Destination of one message: an open flow, or an address whose connection is reused or dialled. */
export type Destination = { readonly flow: Flow } | { readonly target: Target }

export function transportOf(destination: Destination): TransportName {
  return 'flow' in destination ? destination.flow.transport : destination.target.transport
}

interface SendOutcome {
  sent(flow: Flow): void
  failed(code: string, detail: string): void
}

/** Matches transport commands with their results, and tracks open stream flows and failed targets. */
export class MessageSender {
  readonly #health = new TargetHealth()
  readonly #transport: SipTransport
  readonly #time: Time
  readonly #sends = new TransientMap<number, SendOutcome>()
  readonly #resolves = new TransientMap<number, (targets: readonly Target[]) => void>()
  /** Called with the flow and the answer to the STUN request of a transaction. */
  readonly #stunAnswers = new Map<string, (flow: Flow, bytes: Uint8Array) => void>()
  /** Stream flows only: a UDP flow has no end, so remembering them would grow with every address that ever sent. */
  readonly #live = new Set<string>()
  #nextId = 1

  constructor(transport: SipTransport, time: Time) {
    this.#transport = transport
    this.#time = time
  }

  /** The outcome never comes synchronously. */
  send(destination: Destination, message: SipMessage, outcome: SendOutcome): void {
    let bytes: Uint8Array
    try {
      bytes = serialise(message)
    } catch (error) {
      // A field of the peer that our serialiser cannot write is reported as a failed send, never thrown at the caller.
      this.#time.at(this.#time.now(), () => outcome.failed('bad_message', String(error)))
      return
    }
    this.sendBytes(destination, bytes, outcome)
  }

  /** Sends a serialised message. The outcome never comes synchronously. */
  sendBytes(destination: Destination, bytes: Uint8Array, outcome: SendOutcome): void {
    const sendId = this.#nextId++
    this.#sends.set(sendId, outcome)
    this.#transport.submit({ type: 'send', sendId, to: destination, bytes })
  }

  /** Calls `onAnswer` with what arrives in the transaction of this STUN request. Returns a function that ends the wait. */
  awaitStun(request: Uint8Array, onAnswer: (flow: Flow, bytes: Uint8Array) => void): () => void {
    const transaction = stunTransaction(request)
    this.#stunAnswers.set(transaction, onAnswer)
    return () => this.#stunAnswers.delete(transaction)
  }

  /** On this connection something is sent every `withinMs` at least, a keep-alive where there is nothing else. */
  keepWithin(flow: Flow, withinMs: Ms): void {
    this.#transport.submit({ type: 'keep-within', flow, withinMs })
  }

  /** Locates servers (RFC 3263); an empty list if nothing was found. Recently failed targets come last. Never synchronous. */
  resolve(hop: NextHop, done: (targets: readonly Target[]) => void): void {
    const resolveId = this.#nextId++
    this.#resolves.set(resolveId, targets => done(this.#health.order(targets, this.#time.now())))
    this.#transport.submit({ type: 'resolve', resolveId, hop })
  }

  /** Tries other targets first for `avoidMs`, default 30 s. */
  targetFailed(target: Target, avoidMs?: Ms): void {
    this.#health.failed(target, this.#time.now(), avoidMs)
  }

  /** Tries other targets first for the time in the target's 503. */
  targetUnavailable(target: Target, retryAfterMs: Ms): void {
    this.#health.unavailable(target, this.#time.now(), retryAfterMs)
  }

  /** The target answered OPTIONS. */
  targetAnswered(target: Target): void {
    this.#health.answered(target)
  }

  targetWorked(target: Target): void {
    this.#health.worked(target)
  }

  /** Handles results of sends and lookups, and keeps the list of open flows. */
  handle(input: TransportInput): void {
    switch (input.type) {
      case 'message':
        this.#note(input.flow)
        return
      case 'stun':
        this.#stunAnswers.get(stunTransaction(input.bytes))?.(input.flow, input.bytes)
        return
      case 'sent': {
        this.#note(input.flow)
        const outcome = this.#sends.get(input.sendId)
        this.#sends.delete(input.sendId)
        outcome?.sent(input.flow)
        return
      }
      case 'send-failed': {
        const outcome = this.#sends.get(input.sendId)
        this.#sends.delete(input.sendId)
        outcome?.failed(input.code, input.detail)
        return
      }
      case 'flow-closed':
        this.#live.delete(input.flow.id)
        return
      case 'resolved': {
        const done = this.#resolves.get(input.resolveId)
        this.#resolves.delete(input.resolveId)
        done?.(input.targets)
        return
      }
    }
  }

  #note(flow: Flow): void {
    if (flow.transport !== 'udp') this.#live.add(flow.id)
  }

  /** A stream flow that was not reported closed; false for UDP, where reachability is unknown. */
  isLiveStream(flow: Flow): boolean {
    return this.#live.has(flow.id)
  }

  /** Pending sends fail and pending lookups return no target. */
  stop(): void {
    const sends = [...this.#sends.values()]
    const resolves = [...this.#resolves.values()]
    this.#sends.clear()
    this.#resolves.clear()
    this.#stunAnswers.clear()
    for (const outcome of sends) outcome.failed('shutdown', 'the user agent was closed')
    for (const done of resolves) done([])
  }

  get pending(): number {
    return this.#sends.size + this.#resolves.size
  }
}
