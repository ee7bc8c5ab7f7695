import type { Time } from '@parley/kernel'
import type { FakeDelays, FakeWord, OpenHearing, Unkindness } from '../protocol.ts'
import type { SocketService } from './socket-service.ts'

/** What all fakes of recognisers are opened with. */
export interface FakeRecogniserOptions {
  /** The key that is let in. */
  readonly apiKey: string
  readonly hearing: OpenHearing
  readonly unkindness?: readonly Unkindness[]
  readonly delays?: FakeDelays
  /** Of idle closes and delays; default the system's. */
  readonly time?: Time
  /** A service closes when it got nothing for so long, ms; default the vendor's. */
  readonly idleCloseMs?: number
  /** The newest word of what is not final is told cut short, and corrected later. Default false. */
  readonly revises?: boolean
}

/** What a fake was told and by how many, for assertions. */
export interface FakeRecogniserLog {
  /** Types of the text messages, in order. */
  readonly messages: string[]
  /** Queries of the connections, in order. */
  readonly queries: URLSearchParams[]
  /** Bytes of audio. */
  audioBytes: number
  /** The shortest and the longest message of audio, bytes. */
  shortest: number
  longest: number
  /** Close frames that the service sent, by code. */
  readonly closes: number[]
}

export function emptyLog(): FakeRecogniserLog {
  return { messages: [], queries: [], audioBytes: 0, shortest: Number.POSITIVE_INFINITY, longest: 0, closes: [] }
}

export function logAudio(log: FakeRecogniserLog, bytes: Uint8Array): void {
  log.audioBytes += bytes.length
  log.shortest = Math.min(log.shortest, bytes.length)
  log.longest = Math.max(log.longest, bytes.length)
}

/** A fake of a recogniser on a local port. */
export class FakeRecogniser {
  readonly log: FakeRecogniserLog
  readonly #service: SocketService

  constructor(service: SocketService, log: FakeRecogniserLog) {
    this.#service = service
    this.log = log
  }

  get url(): string {
    return this.#service.url
  }

  /** Connections that were let in, and those that were refused. */
  get counts(): Readonly<SocketService['counts']> {
    return this.#service.counts
  }

  /** Connections that stand. */
  get standing(): number {
    return this.#service.lines.length
  }

  /** What happens to the connections to come. */
  beUnkind(...unkindness: readonly Unkindness[]): void {
    this.#service.beUnkind(...unkindness)
  }

  /** Breaks all connections off, without a close frame. */
  breakOff(): void {
    this.#service.breakOff()
  }

  close(): Promise<void> {
    return this.#service.close()
  }
}

/** The type of a JSON message; null for what is none. */
export function typeOf(text: string): string | null {
  try {
    const message: unknown = JSON.parse(text)
    if (typeof message !== 'object' || message === null || !('type' in message)) return null
    return typeof message.type === 'string' ? message.type : null
  } catch {
    return null
  }
}

/** The words as they are told before they are final. */
export function revised(words: readonly FakeWord[], revises: boolean): readonly FakeWord[] {
  const newest = words.at(-1)
  if (!revises || newest === undefined) return words
  return [...words.slice(0, -1), { ...newest, text: newest.text.slice(0, Math.ceil(newest.text.length / 2)) }]
}

export function textOf(words: readonly FakeWord[]): string {
  return words.map(({ text }) => text).join(' ')
}
