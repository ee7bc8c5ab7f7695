import type { Ms } from '@parley/kernel'
import type { ConnectionHandler, FakeConnection } from '../sockets/fake-connection.ts'

/** How a service closes a connection after an error. */
export interface FakeError {
  /** Null: no error message is sent. */
  readonly message: string | null
  readonly code: number
  readonly reason: string
}

/** Handles the messages of one connection. */
export interface FakeSession {
  readonly onText: (text: string) => void
  readonly onClose: () => void
}

interface VoiceConnectionOptions {
  /** Time without a message after which the connection is closed. */
  readonly idleCloseMs: Ms
  /** How the connection ends after the fault "error". */
  readonly error: FakeError
  /** How the connection ends when it is idle. */
  readonly idle: FakeError
  readonly session: (connection: VoiceConnection) => FakeSession
}

/** A connection to a fake voice, which closes it after its idle time. */
export class VoiceConnection implements ConnectionHandler {
  readonly #connection: FakeConnection
  readonly #options: VoiceConnectionOptions
  readonly #session: FakeSession

  constructor(connection: FakeConnection, options: VoiceConnectionOptions) {
    this.#connection = connection
    this.#options = options
    this.#resetIdleTimer()
    this.#session = options.session(this)
  }

  send(data: string | Buffer): void {
    this.#connection.send(data)
  }

  json(message: object): void {
    this.#connection.json(message)
  }

  /** Sends a message that carries audio. */
  sendAudio(data: string | Buffer): void {
    this.#connection.sendAudio(data)
  }

  /** Sends the error and closes the connection, unless a fault has stopped all sending. */
  end({ message, code, reason }: FakeError): void {
    if (this.#connection.isSilent) return
    if (message !== null) this.#connection.send(message)
    this.#connection.close(code, reason)
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
    this.#connection.resetIdleTimer(this.#options.idleCloseMs)
  }
}
