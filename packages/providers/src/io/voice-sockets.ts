import type { Ms, Time, Timer } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { VoiceProtocol } from '../text-to-speech/voice-protocol.ts'
import { VoiceSocket } from './voice-socket.ts'

const MAX_WAITING = 256

interface VoiceSocketsOptions {
  readonly protocol: VoiceProtocol
  readonly time: Time
  /** Most open sockets, for all voices together. */
  readonly maxSockets: number
  readonly idleMs?: Ms
  readonly connectMs?: Ms
  /** The API key, which is removed from error texts. */
  readonly secret: string
}

interface Waiting {
  readonly url: string
  readonly fresh: boolean
  readonly onPlace: (socket: VoiceSocket) => void
  /** The pool closed before a socket became free. */
  readonly onClosed: (error: ProviderFailure) => void
}

/**
 * The pool of sockets to one voice service. Sockets are reused between utterances and shared by all calls; a socket that
 * the service closes while it is idle leaves the pool.
 */
export class VoiceSockets {
  readonly #options: VoiceSocketsOptions
  /** Each socket with its idle timer; null while it is in use. */
  readonly #sockets = new Map<VoiceSocket, Timer | null>()
  readonly #waiting: Waiting[] = []
  #serving = false
  #closed = false

  constructor(options: VoiceSocketsOptions) {
    this.#options = options
  }

  /** Sockets that are open or being opened. */
  get count(): number {
    return this.#sockets.size
  }

  /**
   * Passes a socket with free capacity to `onPlace`, at once or when there is one; `fresh`: a new socket. Utterances wait
   * in order. Returns a function that ends the wait. Throws `ProviderError` "voice_busy" when too many wait, and
   * "voice_closed".
   */
  enter(url: string, wanted: Omit<Waiting, 'url'>): () => void {
    if (this.#closed) throw closed()
    const socket = this.#find(url, wanted.fresh)
    if (socket !== null) {
      wanted.onPlace(socket)
      this.#settle(socket)
      return () => {}
    }
    if (this.#waiting.length >= MAX_WAITING)
      throw new ProviderError('voice_busy', 'Too many utterances wait for this voice.')
    const waiting = { url, ...wanted }
    this.#waiting.push(waiting)
    return () => {
      const at = this.#waiting.indexOf(waiting)
      if (at !== -1) this.#waiting.splice(at, 1)
    }
  }

  /** Opens a socket for `url` in advance, unless one has free capacity or the limit is reached. */
  warm(url: string): void {
    if (this.#closed || this.#sockets.size >= this.#options.maxSockets) return
    if (this.#reusable(url) === null) this.#settle(this.#open(url))
  }

  /** Closes all sockets; their utterances fail with "voice_closed". */
  close(): void {
    this.#closed = true
    for (const { onClosed } of this.#waiting.splice(0)) onClosed(closed())
    for (const [socket, timer] of this.#sockets) {
      timer?.cancel()
      socket.close(closed())
    }
    this.#sockets.clear()
  }

  #find(url: string, fresh: boolean): VoiceSocket | null {
    const known = fresh ? null : this.#reusable(url)
    if (known !== null) return known
    if (this.#sockets.size >= this.#options.maxSockets && !this.#closeIdle()) return null
    return this.#open(url)
  }

  /** The fullest socket with free capacity, so that others become idle and close. */
  #reusable(url: string): VoiceSocket | null {
    let best: VoiceSocket | null = null
    for (const socket of this.#sockets.keys())
      if (socket.url === url && socket.hasPlace && socket.load >= (best?.load ?? 0)) best = socket
    return best
  }

  #open(url: string): VoiceSocket {
    const { protocol, time, connectMs, secret } = this.#options
    const socket: VoiceSocket = new VoiceSocket({
      protocol,
      url,
      time,
      secret,
      ...(connectMs !== undefined && { connectMs }),
      onChange: () => this.#onChange(socket),
    })
    this.#sockets.set(socket, null)
    return socket
  }

  /** Closes the socket that has been idle longest; false when none is idle. */
  #closeIdle(): boolean {
    for (const [socket, timer] of this.#sockets) {
      if (socket.load > 0) continue
      timer?.cancel()
      this.#sockets.delete(socket)
      socket.close(
        new ProviderError('voice_failed', 'An idle connection was closed to make room for another voice.', {
          retryable: false,
        }),
      )
      return true
    }
    return false
  }

  #onChange(socket: VoiceSocket): void {
    if (!this.#sockets.has(socket)) return
    if (socket.isOver) {
      this.#sockets.get(socket)?.cancel()
      this.#sockets.delete(socket)
    } else this.#settle(socket)
    this.#serve()
  }

  /** Starts the idle timer of an unused socket, and stops it for a used one. */
  #settle(socket: VoiceSocket): void {
    const timer = this.#sockets.get(socket)
    if (timer === undefined) return
    timer?.cancel()
    const { time, protocol, idleMs } = this.#options
    if (socket.load > 0) {
      this.#sockets.set(socket, null)
      return
    }
    // Moves the socket to the end: idle sockets are closed from the first on.
    this.#sockets.delete(socket)
    const close = () => {
      this.#sockets.delete(socket)
      socket.close(new ProviderError('voice_failed', 'The connection was idle.', { retryable: false }))
    }
    this.#sockets.set(socket, time.at(time.now() + (idleMs ?? protocol.idleMs), close))
  }

  #serve(): void {
    // An utterance may end inside onPlace(), which calls this method again.
    if (this.#serving) return
    this.#serving = true
    for (let i = 0; i < this.#waiting.length; ) {
      const { url, fresh, onPlace } = this.#waiting[i]!
      const socket = this.#find(url, fresh)
      if (socket === null) i++
      else {
        this.#waiting.splice(i, 1)
        onPlace(socket)
        this.#settle(socket)
      }
    }
    this.#serving = false
  }
}

function closed(): ProviderFailure {
  return new ProviderError('voice_closed', 'This voice was closed.')
}
