import type { IncomingHttpHeaders } from 'node:http'
import type { Ms, Time, Timer } from '@parley/kernel'
import { type RawData, WebSocket } from 'ws'
import type { ServiceFault } from '../protocol.ts'

/** How a fake serves one connection. */
export interface ConnectionHandler {
  onText(text: string): void
  onBinary(bytes: Buffer): void
  /** The connection has closed. */
  onClose(): void
  /** The idle time has passed: closes the connection as the vendor does. */
  onIdle(): void
  /** Sends an error in the vendor's shape, and closes as the vendor does. */
  fail(): void
}

/** How services of one kind behave during a fault. */
export interface FaultBehaviour {
  /** The messages that "garble" sends. */
  readonly garbage: readonly (string | Buffer)[]
  /** The garbage is sent as soon as the connection is open; false: with the first message in either direction. */
  readonly garbageAtOnce: boolean
  /** `afterMs` of a fault counts from the first audio that is sent, however long that takes; false: from the first message in either direction. */
  readonly countsFromAudio: boolean
  /** A connection that is "mute" or "stalled" ignores what the client sends. */
  readonly ignoresInputWhenSilent: boolean
}

/** What a connection uses of a `WebSocket` (ws); fakes of services with another transport implement it as well. */
export interface FakeSocket {
  readonly readyState: number
  send(data: string | Uint8Array, onSent: () => void): void
  close(code: number, reason: string): void
  terminate(): void
  on(event: 'message', listener: (data: RawData, isBinary: boolean) => void): unknown
  on(event: 'error' | 'close', listener: () => void): unknown
}

interface FakeConnectionOptions {
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly time: Time
  readonly fault: ServiceFault | null
  readonly faultBehaviour: FaultBehaviour
  readonly handle: (connection: FakeConnection) => ConnectionHandler
}

/** The service's end of one connection, with the fault that was scripted for it. */
export class FakeConnection {
  /** URL of the handshake. */
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly time: Time
  readonly #socket: FakeSocket
  readonly #faultBehaviour: FaultBehaviour
  readonly #timers = new Set<Timer>()
  readonly #handler: ConnectionHandler
  /** Null after the fault began. */
  #fault: ServiceFault | null
  #isSilent: boolean
  #idleAt: Ms = 0
  #idleTimer: Timer | null = null
  /** When that timer fires. */
  #idleTimerAt: Ms = 0

  constructor(socket: FakeSocket, { url, headers, time, fault, faultBehaviour, handle }: FakeConnectionOptions) {
    this.url = url
    this.headers = headers
    this.time = time
    this.#socket = socket
    this.#faultBehaviour = faultBehaviour
    this.#fault = fault
    this.#isSilent = fault?.type === 'mute'
    if (fault?.type === 'garble' && faultBehaviour.garbageAtOnce) this.#begin()
    this.#handler = handle(this)
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary))
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      for (const timer of this.#timers) timer.cancel()
      this.#handler.onClose()
    })
  }

  /** Whether a fault has stopped all sending. */
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

  /** Sends a message that carries audio. */
  sendAudio(data: string | Uint8Array): void {
    this.send(data)
    this.#countDown()
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

  /** The connection is idle `ms` from now, unless this is called before. A later time starts no timer of its own, because each message sets it. */
  resetIdleTimer(ms: Ms): void {
    this.#idleAt = this.time.now() + ms
    if (this.#idleTimer !== null && this.#idleTimerAt <= this.#idleAt) return
    this.#idleTimer?.cancel()
    this.#startIdleTimer()
  }

  /** Acts as if the idle time had passed. */
  idle(): void {
    this.#handler.onIdle()
  }

  close(code: number, reason = ''): void {
    this.#socket.close(code, reason)
  }

  /** Closes the connection without a close frame. */
  breakOff(): void {
    this.#socket.terminate()
  }

  #startIdleTimer(): void {
    this.#idleTimerAt = this.#idleAt
    this.#idleTimer = this.after(this.#idleAt - this.time.now(), () => {
      this.#idleTimer = null
      if (this.time.now() < this.#idleAt) this.#startIdleTimer()
      else this.idle()
    })
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (this.#isSilent && this.#faultBehaviour.ignoresInputWhenSilent) return
    this.#begin()
    if (this.#socket.readyState !== WebSocket.OPEN) return
    if (isBinary) this.#handler.onBinary(data as Buffer)
    else this.#handler.onText(String(data))
  }

  /** Runs with the first message in either direction. */
  #begin(): void {
    const fault = this.#fault
    // Not by a timer, which could fire after the reply was sent.
    const breaksAtOnce = fault?.type === 'break-off' && fault.afterMs === 0
    if (fault !== null && 'afterMs' in fault && !breaksAtOnce) {
      if (!this.#faultBehaviour.countsFromAudio) this.#countDown()
      return
    }
    this.#fault = null
    if (breaksAtOnce) return this.breakOff()
    if (fault?.type === 'garble') for (const piece of this.#faultBehaviour.garbage) this.#socket.send(piece, () => {})
  }

  /** Begins the time of a fault that has one. */
  #countDown(): void {
    const fault = this.#fault
    if (fault === null || !('afterMs' in fault)) return
    this.#fault = null
    this.after(fault.afterMs, () => {
      if (fault.type === 'break-off') this.breakOff()
      else if (fault.type === 'error') this.#handler.fail()
      else this.#isSilent = true
    })
  }
}
