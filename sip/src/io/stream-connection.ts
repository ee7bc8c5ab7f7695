import type { Socket } from 'node:net'
import { MachineDriver, type Ms, type Random, type Time, type Timer } from '@parley/kernel'
import type { MessageLimits, ParseResult } from '../message/parse-result.ts'
import { StreamFramer } from '../message/stream-framer.ts'
import { StreamLifetime, type StreamLifetimeInput, type StreamLifetimeOutput } from '../transport/stream-lifetime.ts'
import type { StreamLimits } from '../transport/stream-limits.ts'
import type { Flow } from '../transport/transport.ts'
import type { ReadScheduler } from './read-scheduler.ts'
import { errorText, streamErrorCode } from './socket-error.ts'

const PING = Buffer.from('\r\n\r\n')
const PONG = Buffer.from('\r\n')

export interface StreamConnectionContext {
  readonly time: Time
  readonly random: Random
  readonly limits: StreamLimits
  readonly messageLimits: MessageLimits
  readonly turns: ReadScheduler
  onMessage(connection: StreamConnection, result: ParseResult): void
  /** Once per connection; nothing comes after it. */
  onClosed(connection: StreamConnection, code: string, detail: string): void
}

/**
 * One established TCP or TLS connection. `open` speaks both ways; after a protocol violation it is `condemned`: what
 * comes is thrown away, the answer may still leave, then it is `closed`, and reported so, while the socket lingers
 * until the peer closed its side as well or `lingerMs` ran out.
 */
export class StreamConnection {
  readonly flow: Flow
  readonly #socket: Socket
  readonly #context: StreamConnectionContext
  readonly #framer: StreamFramer
  readonly #life: MachineDriver<StreamLifetimeInput, StreamLifetimeOutput>
  #state: 'open' | 'condemned' | 'closed' = 'open'
  #timer: Timer | undefined
  /** Called when the first message is sent. */
  #onSend: (() => void) | undefined

  /** Takes the socket over; it must be connected, and secured where the flow is TLS. Reading starts with `start`. */
  constructor(socket: Socket, flow: Flow, context: StreamConnectionContext, onSend?: () => void) {
    this.flow = flow
    this.#onSend = onSend
    this.#socket = socket
    this.#context = context
    this.#framer = new StreamFramer(context.messageLimits)
    const { time, limits, random } = context
    this.#life = new MachineDriver(new StreamLifetime(time.now(), flow.origin, limits, random), time, output =>
      this.#obey(output),
    )
    socket.setNoDelay(true)
    socket.on('error', error => this.close(streamErrorCode(error), errorText(error)))
    socket.on('end', () => this.close('closed', 'the peer closed the connection'))
    socket.on('close', () => this.#gone())
  }

  start(): void {
    this.#socket.on('data', chunk => this.#context.turns.run(this.#socket, () => this.#read(chunk)))
    // A socket that closed before the listeners were attached emits no further event.
    if (this.#socket.destroyed) this.close('closed', 'the connection was cut')
  }

  /** False when the peer left so much unread that these bytes would exceed the cap: call `overflow` then. */
  fits(bytes: Uint8Array): boolean {
    return this.#socket.writableLength + bytes.length <= this.#context.limits.maxUnreadBytes
  }

  /** Cuts a peer that does not read. */
  overflow(): void {
    this.#cut('write_overflow', `the peer left ${this.#socket.writableLength} bytes unread`)
  }

  write(bytes: Uint8Array): void {
    this.#onSend?.()
    this.#onSend = undefined
    this.#push(bytes)
    this.#life.handle({ type: 'sent' })
  }

  /** Keep-alives come this often at least. */
  keepWithin(ms: Ms): void {
    this.#life.handle({ type: 'keep-within', ms })
  }

  /** Reports the end at once, sends our FIN, and cuts the socket when the peer does not answer it in time. */
  close(code: string, detail: string): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#life.stop()
    this.#timer?.cancel()
    this.#timer = undefined
    if (!this.#socket.destroyed) {
      this.#socket.resume()
      this.#socket.end()
      const { time, limits } = this.#context
      this.#timer = time.at(time.now() + limits.lingerMs, () => this.destroy())
    }
    this.#context.onClosed(this, code, detail)
  }

  /** Destroys the socket at once. */
  destroy(): void {
    this.#socket.destroy()
    this.close('closed', 'the connection was cut')
  }

  #read(chunk: Buffer): void {
    if (this.#state !== 'open') return
    this.#framer.push(chunk)
    let completed = false
    for (let item = this.#framer.next(); item !== undefined; item = this.#framer.next()) {
      completed = true
      if ('keepAlive' in item) this.#life.handle({ type: item.keepAlive })
      else this.#message(item)
      if (!this.#isOpen()) return
    }
    this.#life.handle({ type: 'received', completed, partial: this.#framer.pending > 0 })
  }

  #message(result: ParseResult): void {
    if (result.ok) this.#life.handle({ type: 'valid-message' })
    this.#context.onMessage(this, result)
    if (result.ok || !result.fatal || !this.#isOpen()) return
    this.#state = 'condemned'
    this.#life.stop()
    const { time, limits } = this.#context
    const code = 'protocol_error'
    this.#timer = time.at(time.now() + limits.violationFlushMs, () => this.close(code, result.fault.detail))
  }

  /** Through a method: what is called in between may have closed the connection, which the compiler cannot know. */
  #isOpen(): boolean {
    return this.#state === 'open'
  }

  #obey(output: StreamLifetimeOutput): void {
    if (output.type === 'send-ping') this.#push(PING)
    else if (output.type === 'send-pong') this.#push(PONG)
    else if (output.code === 'slow_sender') this.#cut(output.code, 'no whole message in the time allowed')
    else if (output.code === 'idle') this.close(output.code, 'nothing was exchanged for too long')
    else this.#cut(output.code, 'the peer stopped answering keep-alives')
  }

  #push(bytes: Uint8Array): void {
    if (this.#state === 'closed') return
    if (this.fits(bytes)) this.#socket.write(bytes)
    else this.overflow()
  }

  /** Resets the connection, for peers that misbehave or do not respond. */
  #cut(code: string, detail: string): void {
    this.close(code, detail)
    this.#socket.destroy()
  }

  #gone(): void {
    this.close('closed', 'the connection was cut')
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
