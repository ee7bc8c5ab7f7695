import type { Ms } from '@parley/kernel'
import type { ConnectionHandler, FakeConnection } from '../sockets/fake-connection.ts'

/** How a service ends a connection after it said an error. */
export interface FakeError {
  /** Null: it says none. */
  readonly message: string | null
  readonly code: number
  readonly reason: string
}

/** What a connection does with what it hears. */
export interface FakeSession {
  readonly onText: (text: string) => void
  readonly onClose: () => void
}

interface VoiceConnectionOptions {
  /** It ends when nobody said anything for so long. */
  readonly idleCloseMs: Ms
  /** What it says for an faults "error", and when it was idle for too long. */
  readonly error: FakeError
  readonly idle: FakeError
  readonly session: (line: VoiceConnection) => FakeSession
}

/** A connection to a fake of a voice: it ends when it is idle. */
export class VoiceConnection implements ConnectionHandler {
  readonly #line: FakeConnection
  readonly #options: VoiceConnectionOptions
  readonly #session: FakeSession

  constructor(line: FakeConnection, options: VoiceConnectionOptions) {
    this.#line = line
    this.#options = options
    this.#resetIdleTimer()
    this.#session = options.session(this)
  }

  send(data: string | Buffer): void {
    this.#line.send(data)
  }

  json(message: object): void {
    this.#line.json(message)
  }

  /** Says an error and closes, as the service does; one that is silent does neither. */
  end({ message, code, reason }: FakeError): void {
    if (this.#line.isSilent) return
    if (message !== null) this.#line.send(message)
    this.#line.close(code, reason)
  }

  onText(text: string): void {
    this.#resetIdleTimer()
    this.#session.onText(text)
  }

  onBinary(): void {
    this.#resetIdleTimer()
  }

  onClose(): void {
    this.#session.onClose()
  }

  onIdle(): void {
    this.end(this.#options.idle)
  }

  fail(): void {
    this.end(this.#options.error)
  }

  #resetIdleTimer(): void {
    this.#line.resetIdleTimer(this.#options.idleCloseMs)
  }
}
