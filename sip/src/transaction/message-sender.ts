import type { Ms, Time } from '@parley/kernel'
import type { SipMessage } from '../message/message.ts'
import { serialise } from '../message/serialise.ts'
import { TargetHealth } from '../transport/target-health.ts'
import type { Flow, NextHop, SipTransport, Target, TransportInput, TransportName } from '../transport/transport.ts'

/** Where one message goes: a path that stands, or an address to which one is found or dialled. */
export type Destination = { readonly flow: Flow } | { readonly target: Target }

export function transportOf(destination: Destination): TransportName {
  return 'flow' in destination ? destination.flow.transport : destination.target.transport
}

interface SendOutcome {
  sent(flow: Flow): void
  failed(code: string, detail: string): void
}

/** Pairs what is asked of the transport with its answers, and knows which stream flows and which targets are alive. */
export class MessageSender {
  readonly #health = new TargetHealth()
  readonly #transport: SipTransport
  readonly #time: Time
  readonly #sends = new Map<number, SendOutcome>()
  readonly #resolves = new Map<number, (targets: readonly Target[]) => void>()
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
      // Something of the peer's that our grammar cannot carry back: a failed send, never an exception of the caller's.
      this.#time.at(this.#time.now(), () => outcome.failed('bad_message', String(error)))
      return
    }
    const sendId = this.#nextId++
    this.#sends.set(sendId, outcome)
    this.#transport.submit({ type: 'send', sendId, to: destination, bytes })
  }

  /** RFC 3263; an empty list when nothing was found. Targets that failed lately stand last. Never synchronously. */
  resolve(hop: NextHop, done: (targets: readonly Target[]) => void): void {
    const resolveId = this.#nextId++
    this.#resolves.set(resolveId, targets => done(this.#health.order(targets, this.#time.now())))
    this.#transport.submit({ type: 'resolve', resolveId, hop })
  }

  /** Other targets come first for a while: 30 s, or what the target's 503 asked for. */
  targetFailed(target: Target, retryAfterMs?: Ms): void {
    this.#health.failed(target, this.#time.now(), retryAfterMs)
  }

  targetWorked(target: Target): void {
    this.#health.worked(target)
  }

  /** Takes the inputs that answer a send or a resolve, and keeps the book of live flows. */
  handle(input: TransportInput): void {
    switch (input.type) {
      case 'message':
        this.#note(input.flow)
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

  /** A stream flow that was not reported closed; false for UDP, where nothing tells whether anybody listens. */
  isLiveStream(flow: Flow): boolean {
    return this.#live.has(flow.id)
  }

  /** Whoever still waits is told that nothing was sent and nothing found. */
  stop(): void {
    const sends = [...this.#sends.values()]
    const resolves = [...this.#resolves.values()]
    this.#sends.clear()
    this.#resolves.clear()
    for (const outcome of sends) outcome.failed('shutdown', 'the user agent was closed')
    for (const done of resolves) done([])
  }

  get pending(): number {
    return this.#sends.size + this.#resolves.size
  }
}
