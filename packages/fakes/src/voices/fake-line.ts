import type { Ms } from '@parley/kernel'
import type { RawData, WebSocket } from 'ws'
import type { Unkindness } from '../protocol.ts'

/** How a service ends a connection after it said an error. */
export interface FakeError {
  readonly message: string | null
  readonly code: number
  readonly reason: string
}

export interface FakeLineOptions {
  readonly unkindness: Unkindness | null
  readonly idleCloseMs: Ms
  /** What it says for an unkindness "error", and when it was idle for too long. */
  readonly error: FakeError
  readonly idle: FakeError
  readonly onText: (text: string) => void
  readonly onClose: () => void
}

const GARBAGE = [
  '{',
  'null',
  '[]',
  '"x"',
  '{}',
  '{"type":"Nonsense"}',
  '{"audio":7,"contextId":null}',
  '{"type":"chunk","data":{}}',
]

/** One connection that a fake accepted, with what goes wrong on it. */
export class FakeLine {
  readonly #socket: WebSocket
  readonly #options: FakeLineOptions
  readonly #timers = new Set<NodeJS.Timeout>()
  #idle: NodeJS.Timeout | null = null
  #begun = false
  #silent: boolean

  constructor(socket: WebSocket, options: FakeLineOptions) {
    this.#socket = socket
    this.#options = options
    this.#silent = options.unkindness?.type === 'mute'
    socket.on('message', (data: RawData, isBinary) => {
      this.#begin()
      this.active()
      if (!isBinary) options.onText(data.toString())
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const timer of this.#timers) clearTimeout(timer)
      if (this.#idle !== null) clearTimeout(this.#idle)
      options.onClose()
    })
    this.active()
  }

  /** Somebody uses it: it is not idle. */
  active(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.end(this.#options.idle), this.#options.idleCloseMs)
  }

  send(data: string | Buffer): void {
    this.#begin()
    if (!this.#silent && this.#socket.readyState === this.#socket.OPEN) this.#socket.send(data, () => {})
  }

  json(message: object): void {
    this.send(JSON.stringify(message))
  }

  /** Says an error and closes, as the service does. */
  end({ message, code, reason }: FakeError): void {
    if (this.#silent) return
    if (message !== null) this.#socket.send(message, () => {})
    this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#socket.terminate()
  }

  /** After the first thing that was said or heard. */
  #begin(): void {
    const { unkindness } = this.#options
    if (this.#begun) return
    this.#begun = true
    if (unkindness?.type === 'garble') for (const piece of GARBAGE) this.#socket.send(piece, () => {})
    if (unkindness?.type === 'garble') this.#socket.send(Buffer.alloc(0), () => {})
    if (unkindness?.type === 'break-off') this.#later(unkindness.afterMs, () => this.#socket.terminate())
    if (unkindness?.type === 'error') this.#later(unkindness.afterMs, () => this.end(this.#options.error))
    if (unkindness?.type === 'stall') {
      this.#later(unkindness.afterMs, () => {
        this.#silent = true
      })
    }
  }

  #later(ms: Ms, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, ms)
    this.#timers.add(timer)
  }
}
