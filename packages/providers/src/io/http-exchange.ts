import type { Dispatcher } from 'undici'

/** The parts of an answer, in this order: one head, any number of pieces of the body, the end. */
export type HttpPiece =
  | { readonly type: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'end' }

/** Pieces that wait to be read; at this number the connection is paused. */
const MAX_WAITING = 64

/** One HTTP request whose answer is read piece by piece. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null
  readonly #pieces: HttpPiece[] = []
  #error: Error | null = null
  #reader: (() => void) | null = null
  #isPaused = false
  readonly #onBegun: () => void

  /** `onBegun` is called when the request is written to a connection. */
  constructor(onBegun: () => void) {
    this.#onBegun = onBegun
  }

  /** Waits for the next piece. Rejects with the error that ended the exchange. Not to be called after the end. */
  async next(): Promise<HttpPiece> {
    while (this.#pieces.length === 0) {
      if (this.#error !== null) throw this.#error
      await new Promise<void>(resolve => {
        this.#reader = resolve
      })
    }
    const piece = this.#pieces.shift()!
    if (this.#isPaused && this.#pieces.length === 0) {
      this.#isPaused = false
      this.#controller?.resume()
    }
    return piece
  }

  /** Ends the exchange with `error` at once, drops unread pieces and closes the connection. No effect after the end. */
  abort(error: Error): void {
    if (this.#error !== null) return
    this.#error = error
    this.#pieces.length = 0
    this.#controller?.abort(error)
    this.#wake()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Aborted while it waited for a connection.
    if (this.#error !== null) controller.abort(this.#error)
    else this.#onBegun()
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    const single = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value ?? ''].flat().join(', ')])
    this.#push({ type: 'head', status, headers: Object.fromEntries(single) })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // A copy, because the parser reuses its memory after this call.
    this.#push({ type: 'bytes', bytes: Uint8Array.from(chunk) })
    if (this.#pieces.length < MAX_WAITING || this.#isPaused) return
    this.#isPaused = true
    controller.pause()
  }

  onResponseEnd(): void {
    this.#push({ type: 'end' })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#error ??= error
    this.#wake()
  }

  #push(piece: HttpPiece): void {
    if (this.#error !== null) return
    this.#pieces.push(piece)
    this.#wake()
  }

  #wake(): void {
    const reader = this.#reader
    this.#reader = null
    reader?.()
  }
}
