import type { Ms, Samples } from '@parley/kernel'
import { objectFrom } from '../json-object.ts'
import type { FakeWord } from '../protocol.ts'
import type { ConnectionHandler, FakeConnection } from '../sockets/fake-connection.ts'
import { AudioListener } from './audio-listener.ts'
import type { FakeRecogniserLog, FakeRecogniserOptions } from './fake-recogniser.ts'
import { StreamAudio } from './stream-audio.ts'

interface SessionTraits {
  readonly language: string
  /** Default idle time of the service; null: the service has none. */
  readonly idleCloseMs: Ms | null
  /** The stream's parameters; default the query of the connection. `encoding` and `sample_rate` describe its audio. */
  readonly query?: URLSearchParams
  /** Name of the member with a message's type; default "type". */
  readonly typeMember?: string
}

/** One connection to a fake recogniser: the part that all vendors share. */
export abstract class RecogniserSession<Options extends FakeRecogniserOptions> implements ConnectionHandler {
  protected readonly connection: FakeConnection
  protected readonly options: Options
  protected readonly streamAudio: StreamAudio
  protected readonly audio: AudioListener
  /** Recognised words that are not final. */
  protected words: FakeWord[] = []
  readonly #log: FakeRecogniserLog
  readonly #idleCloseMs: Ms | null
  readonly #typeMember: string
  readonly #delayed: object[] = []
  #isOver = false

  constructor(connection: FakeConnection, options: Options, log: FakeRecogniserLog, traits: SessionTraits) {
    this.connection = connection
    this.options = options
    this.#log = log
    const query = traits.query ?? connection.url.searchParams
    log.queries.push(query)
    this.#typeMember = traits.typeMember ?? 'type'
    this.#idleCloseMs = options.idleCloseMs ?? traits.idleCloseMs
    this.streamAudio = new StreamAudio(query)
    this.audio = new AudioListener(this.streamAudio, options.openRecogniser(traits.language), {
      onWord: word => {
        this.words.push(word)
        this.onWord()
      },
      onBlock: () => this.onBlock(),
    })
    this.resetIdleTimer()
  }

  abstract fail(): void
  abstract onIdle(): void
  /** `type`: of the JSON message `text`; null when it has none. */
  protected abstract onMessage(type: string | null, text: string): void
  /** A word was added to `words`. */
  protected abstract onWord(): void
  /** After each 20 ms of audio. */
  protected abstract onBlock(): void

  protected onAudio(bytes: Buffer): void {
    this.audio.write(bytes)
  }

  onText(text: string): void {
    const type = objectFrom(text)?.[this.#typeMember]
    const known = typeof type === 'string' ? type : null
    this.#log.messages.push(known ?? '?')
    if (!this.#isOver) this.onMessage(known, text)
  }

  onBinary(bytes: Buffer): void {
    if (this.#isOver) return
    this.#log.audioBytes += bytes.length
    this.#log.shortest = Math.min(this.#log.shortest, bytes.length)
    this.#log.longest = Math.max(this.#log.longest, bytes.length)
    this.resetIdleTimer()
    this.onAudio(bytes)
  }

  onClose(): void {
    this.audio.close()
  }

  protected resetIdleTimer(): void {
    if (this.#idleCloseMs !== null) this.connection.resetIdleTimer(this.#idleCloseMs)
  }

  /** End of the received audio or of the last word, whichever is later. */
  protected get heardUntil(): Samples {
    return Math.max(this.audio.heard, this.words.at(-1)?.endSample ?? 0)
  }

  /** The words to send: with `revises`, the newest word of a partial result is truncated. */
  protected wordsToSend(areFinal: boolean): readonly FakeWord[] {
    const newest = this.words.at(-1)
    if (areFinal || this.options.revises !== true || newest === undefined) return this.words
    return [...this.words.slice(0, -1), { ...newest, text: newest.text.slice(0, Math.ceil(newest.text.length / 2)) }]
  }

  /** Sends a result with the delay of partials or finals, and `laterMs` more. */
  protected sendResult(message: object, isFinal: boolean, laterMs: Ms = 0): void {
    const { delays } = this.options
    this.send(message, ((isFinal ? delays?.finalMs : delays?.partialMs) ?? 0) + laterMs)
  }

  /** Sends a message `delayMs` from now, in order. */
  protected send(message: object, delayMs: Ms = 0): void {
    if (delayMs === 0 && this.#delayed.length === 0) return this.connection.json(message)
    this.#delayed.push(message)
    // Each timer sends the oldest waiting message, because timers of the same time may fire in any order.
    this.connection.after(delayMs, () => this.connection.json(this.#delayed.shift()!))
  }

  protected close(code: number, reason = ''): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#log.closes.push(code)
    this.connection.close(code, reason)
  }
}

export function textOf(words: readonly FakeWord[]): string {
  return words.map(({ text }) => text).join(' ')
}
