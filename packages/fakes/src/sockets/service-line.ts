import type { IncomingHttpHeaders } from 'node:http'
import type { Ms, Time, Timer } from '@parley/kernel'
import { type RawData, WebSocket } from 'ws'
import type { Unkindness } from '../protocol.ts'

/** What a fake does with one connection. */
export interface Conversation {
  onText(text: string): void
  onBinary(bytes: Buffer): void
  /** The connection is gone. */
  onClose(): void
  /** Nothing has kept the connection awake: closes it as the vendor does. */
  onIdle(): void
  /** Says an error in the vendor's shape, and closes as the vendor does. */
  fail(): void
}

/** How services of a kind carry out what is scripted for a connection. */
export interface UnkindManners {
  /** The messages of "garble". */
  readonly nonsense: readonly (string | Buffer)[]
  /** Nonsense comes as soon as the connection stands; otherwise with the first thing that is said or heard. */
  readonly nonsenseAtOnce: boolean
  /** Who says nothing, by "mute" or "stall", hears nothing either. */
  readonly deafWhenSilent: boolean
}

interface ServiceLineOptions {
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly time: Time
  readonly unkindness: Unkindness | null
  readonly manners: UnkindManners
  readonly converse: (line: ServiceLine) => Conversation
}

/** One connection, as the service's end sees it; it suffers the unkindness that was scripted for it. */
export class ServiceLine {
  /** Of the request that it came with. */
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly time: Time
  readonly #socket: WebSocket
  readonly #manners: UnkindManners
  readonly #timers = new Set<Timer>()
  readonly #conversation: Conversation
  #unkindness: Unkindness | null
  #isSilent: boolean
  #idle: Timer | null = null

  constructor(socket: WebSocket, { url, headers, time, unkindness, manners, converse }: ServiceLineOptions) {
    this.url = url
    this.headers = headers
    this.time = time
    this.#socket = socket
    this.#manners = manners
    this.#unkindness = unkindness
    this.#isSilent = unkindness?.type === 'mute'
    if (unkindness?.type === 'garble' && manners.nonsenseAtOnce) this.#begin()
    this.#conversation = converse(this)
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary))
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      for (const timer of this.#timers) timer.cancel()
      this.#conversation.onClose()
    })
  }

  /** It says nothing any more, by its script. */
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

  /** Not once the connection is gone. */
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

  /** Idle, unless this is called again, `ms` from now. */
  stayAwake(ms: Ms): void {
    this.#idle?.cancel()
    this.#idle = this.after(ms, () => this.idle())
  }

  /** As if it had been idle for too long. */
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
    if (this.#isSilent && this.#manners.deafWhenSilent) return
    this.#begin()
    if (this.#socket.readyState !== WebSocket.OPEN) return
    if (isBinary) this.#conversation.onBinary(data as Buffer)
    else this.#conversation.onText(String(data))
  }

  /** With the first thing that is said or heard. */
  #begin(): void {
    const unkindness = this.#unkindness
    this.#unkindness = null
    if (unkindness?.type === 'garble') for (const piece of this.#manners.nonsense) this.#socket.send(piece, () => {})
    if (unkindness === null || !('afterMs' in unkindness)) return
    // Not by a timer: it would race with the reply.
    if (unkindness.type === 'break-off' && unkindness.afterMs === 0) return this.breakOff()
    this.after(unkindness.afterMs, () => {
      if (unkindness.type === 'break-off') this.breakOff()
      else if (unkindness.type === 'error') this.#conversation.fail()
      else this.#isSilent = true
    })
  }
}
