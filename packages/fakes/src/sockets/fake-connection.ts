import type { IncomingHttpHeaders } from 'node:http'
import type { Ms, Time, Timer } from '@parley/kernel'
import { type RawData, WebSocket } from 'ws'
import type { ServiceFault } from '../protocol.ts'

/** How a fake serves one connection. */
export interface ConnectionHandler {
  onText(text: string): void
  onBinary(bytes: Buffer): void
  /** The connection is gone. */
  onClose(): void
  /** The idle time has passed: closes the connection as the vendor does. */
  onIdle(): void
  /** Sends an error in the vendor's shape, and closes as the vendor does. */
  fail(): void
}

/** How services of one kind act out the fault of a connection. */
export interface FaultBehaviour {
  /** The messages of "garble". */
  readonly garbage: readonly (string | Buffer)[]
  /** The garbage is sent as soon as the connection is open; false: with the first message in either direction. */
  readonly garbageAtOnce: boolean
  /** A connection that is "mute" or "stalled" ignores what the client sends. */
  readonly ignoresInputWhenSilent: boolean
}

interface FakeConnectionOptions {
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly time: Time
  readonly faults: ServiceFault | null
  readonly faultBehaviour: FaultBehaviour
  readonly handle: (line: FakeConnection) => ConnectionHandler
}

/** The service's end of one connection, with the fault that was scripted for it. */
export class FakeConnection {
  /** Of the request that it came with. */
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly time: Time
  readonly #socket: WebSocket
  readonly #faultBehaviour: FaultBehaviour
  readonly #timers = new Set<Timer>()
  readonly #conversation: ConnectionHandler
  #faults: ServiceFault | null
  #isSilent: boolean
  #idle: Timer | null = null

  constructor(socket: WebSocket, { url, headers, time, faults, faultBehaviour, handle }: FakeConnectionOptions) {
    this.url = url
    this.headers = headers
    this.time = time
    this.#socket = socket
    this.#faultBehaviour = faultBehaviour
    this.#faults = faults
    this.#isSilent = faults?.type === 'mute'
    if (faults?.type === 'garble' && faultBehaviour.garbageAtOnce) this.#begin()
    this.#conversation = handle(this)
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary))
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      for (const timer of this.#timers) timer.cancel()
      this.#conversation.onClose()
    })
  }

  /** The script has silenced it. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  send(data: string | Uint8Array): void {
    if (this.#isSilent || this.#socket.readyState !== WebSocket.OPEN) return
    this.#begin()
    this.#socket.send(data, () => {})
  }

  json(message: object): void {
    this.send(JSON.stringify(message))
  }

  /** Runs `act` after `ms`, unless the connection closes before. */
  after(ms: Ms, act: () => void): Timer {
    const timer = this.time.at(this.time.now() + ms, () => {
      this.#timers.delete(timer)
      act()
    })
    this.#timers.add(timer)
    return {
      cancel: () => {
        timer.cancel()
        this.#timers.delete(timer)
      },
    }
  }

  /** Restarts the idle timer: the connection is idle `ms` from now. */
  resetIdleTimer(ms: Ms): void {
    this.#idle?.cancel()
    this.#idle = this.after(ms, () => this.idle())
  }

  /** Acts as if the idle time had passed. */
  idle(): void {
    this.#conversation.onIdle()
  }

  close(code: number, reason = ''): void {
    this.#socket.close(code, reason)
  }

  /** Without a close frame. */
  breakOff(): void {
    this.#socket.terminate()
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (this.#isSilent && this.#faultBehaviour.ignoresInputWhenSilent) return
    this.#begin()
    if (this.#socket.readyState !== WebSocket.OPEN) return
    if (isBinary) this.#conversation.onBinary(data as Buffer)
    else this.#conversation.onText(String(data))
  }

  /** Runs with the first message in either direction. */
  #begin(): void {
    const faults = this.#faults
    this.#faults = null
    if (faults?.type === 'garble') for (const piece of this.#faultBehaviour.garbage) this.#socket.send(piece, () => {})
    if (faults === null || !('afterMs' in faults)) return
    // Not by a timer: it would race with the reply.
    if (faults.type === 'break-off' && faults.afterMs === 0) return this.breakOff()
    this.after(faults.afterMs, () => {
      if (faults.type === 'break-off') this.breakOff()
      else if (faults.type === 'error') this.#conversation.fail()
      else this.#isSilent = true
    })
  }
}
