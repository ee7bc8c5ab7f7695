import type { Dispatcher } from 'undici'

/** What comes of a request, in this order: once begun, a head, bytes, the end. */
export type HttpPiece =
  | { readonly type: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'end' }

/** So many pieces that nobody took stop the connection until they are taken. */
const MOST_WAITING = 64

/** One request over HTTP whose answer is taken piece by piece. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null
  readonly #pieces: HttpPiece[] = []
  #error: Error | null = null
  #taker: (() => void) | null = null
  #isPaused = false
  readonly #onBegun: () => void

  /** `onBegun`: a connection is there, and the request is written to it. */
  constructor(onBegun: () => void) {
    this.#onBegun = onBegun
  }

  /** The next piece; waits for it. Rejects with what ended the exchange instead. Not after the end. */
  async next(): Promise<HttpPiece> {
    while (this.#pieces.length === 0) {
      if (this.#error !== null) throw this.#error
      await new Promise<void>(resolve => {
        this.#taker = resolve
      })
    }
    const piece = this.#pieces.shift()!
    if (this.#isPaused && this.#pieces.length === 0) {
      this.#isPaused = false
      this.#controller?.resume()
    }
    return piece
  }

  /** Ends it with `error`, at once, and closes its connection; what was not taken is dropped. Nothing after the end. */
  abort(error: Error): void {
    if (this.#error !== null) return
    this.#error = error
    this.#pieces.length = 0
    this.#controller?.abort(error)
    this.#wake()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Given up while it waited for a connection.
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
    // A copy: the parser's memory is its own again after this call.
    this.#push({ type: 'bytes', bytes: Uint8Array.from(chunk) })
    if (this.#pieces.length < MOST_WAITING || this.#isPaused) return
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
    const taker = this.#taker
    this.#taker = null
    taker?.()
  }
}
