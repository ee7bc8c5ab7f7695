import type { Ms, Samples } from '@parley/kernel'
import { objectFrom } from '../json-object.ts'
import type { FakeWord } from '../protocol.ts'
import type { Conversation, ServiceLine } from '../sockets/service-line.ts'
import type { FakeRecogniserLog, FakeRecogniserOptions } from './fake-recogniser.ts'
import { ListenedLine } from './listened-line.ts'

interface SessionTraits {
  readonly language: string
  /** After so long without anything that keeps it awake it is idle, unless the options say another; null: never. */
  readonly idleCloseMs: Ms | null
}

/** One connection to a fake of a recogniser: what all of them do with what they hear. */
export abstract class RecogniserSession<Options extends FakeRecogniserOptions> implements Conversation {
  protected readonly line: ServiceLine
  protected readonly options: Options
  protected readonly ear: ListenedLine
  /** Those that are not final. */
  protected words: FakeWord[] = []
  readonly #log: FakeRecogniserLog
  readonly #idleCloseMs: Ms | null
  readonly #delayed: object[] = []
  #isOver = false

  constructor(line: ServiceLine, options: Options, log: FakeRecogniserLog, traits: SessionTraits) {
    this.line = line
    this.options = options
    this.#log = log
    log.queries.push(line.url.searchParams)
    this.#idleCloseMs = options.idleCloseMs ?? traits.idleCloseMs
    this.ear = new ListenedLine(options.hearing(traits.language), {
      onWord: word => {
        this.words.push(word)
        this.onWord()
      },
      onBlock: () => this.onBlock(),
    })
    this.stayAwake()
  }

  abstract fail(): void
  abstract onIdle(): void
  /** `type`: of the JSON message `text`; null for what has none. */
  protected abstract onMessage(type: string | null, text: string): void
  /** `words` has one more. */
  protected abstract onWord(): void
  /** After each 20 ms of audio. */
  protected abstract onBlock(): void

  protected onAudio(bytes: Buffer): void {
    this.ear.hear(bytes)
  }

  onText(text: string): void {
    const type = objectFrom(text)?.type
    const known = typeof type === 'string' ? type : null
    this.#log.messages.push(known ?? '?')
    if (!this.#isOver) this.onMessage(known, text)
  }

  onBinary(bytes: Buffer): void {
    if (this.#isOver) return
    this.#log.audioBytes += bytes.length
    this.#log.shortest = Math.min(this.#log.shortest, bytes.length)
    this.#log.longest = Math.max(this.#log.longest, bytes.length)
    this.stayAwake()
    this.onAudio(bytes)
  }

  onClose(): void {
    this.ear.close()
  }

  protected stayAwake(): void {
    if (this.#idleCloseMs !== null) this.line.stayAwake(this.#idleCloseMs)
  }

  /** Where what was heard ends, by the audio and by the words. */
  protected get heardUntil(): Samples {
    return Math.max(this.ear.heard, this.words.at(-1)?.endSample ?? 0)
  }

  /** The words as they are told: those that are not final may be revised later. */
  protected wordsToTell(areFinal: boolean): readonly FakeWord[] {
    const newest = this.words.at(-1)
    if (areFinal || this.options.revises !== true || newest === undefined) return this.words
    return [...this.words.slice(0, -1), { ...newest, text: newest.text.slice(0, Math.ceil(newest.text.length / 2)) }]
  }

  /** Says what was heard, with the delay of partials or of finals, and `laterMs` more. */
  protected tell(message: object, isFinal: boolean, laterMs: Ms = 0): void {
    const { delays } = this.options
    this.say(message, ((isFinal ? delays?.finalMs : delays?.partialMs) ?? 0) + laterMs)
  }

  /** Sends a message `delayMs` from now, in order. */
  protected say(message: object, delayMs: Ms = 0): void {
    if (delayMs === 0 && this.#delayed.length === 0) return this.line.json(message)
    this.#delayed.push(message)
    // The earliest that waits goes with each timer: timers of one instant need not come in order.
    this.line.after(delayMs, () => this.line.json(this.#delayed.shift()!))
  }

  protected close(code: number, reason = ''): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#log.closes.push(code)
    this.line.close(code, reason)
  }
}

export function textOf(words: readonly FakeWord[]): string {
  return words.map(({ text }) => text).join(' ')
}
