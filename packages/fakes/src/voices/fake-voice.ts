import type { Ms } from '@parley/kernel'
import type { FakeDelays, FakeSpeech, ServiceFault, Speak } from '../protocol.ts'
import type { ConnectionCounts } from '../sockets/socket-service.ts'
import type { WireAudio } from './wire-audio.ts'

/** Options of every fake voice service. */
export interface FakeVoiceOptions {
  /** The only key that is accepted. */
  readonly apiKey: string
  readonly speak: Speak
  /** Faults of the first connections (of requests over HTTP), in order; later ones get no fault. */
  readonly faults?: readonly (ServiceFault | null)[]
  readonly delays?: FakeDelays
  /** Idle time after which a connection is closed; default the vendor's. */
  readonly idleCloseMs?: Ms
  /** Bytes of audio in one message; default 1601, which is no multiple of a packet. */
  readonly pieceBytes?: number
  /** Speed of sending as a multiple of real time; default all at once. */
  readonly pace?: number
  /** Audio messages still sent after a cancel; default 5. */
  readonly lateMessages?: number
}

/** Counters of a fake voice service. */
export interface FakeVoiceCounts extends ConnectionCounts {
  /** Requested utterances. */
  utterances: number
  /** Most utterances at the same time on one connection. */
  maxConcurrent: number
  cancelled: number
  /** Requests beyond a limit of the service. */
  overLimit: number
  /** Audio messages sent after the cancel of their utterance. */
  lateMessages: number
}

export function noCounts(): FakeVoiceCounts {
  return {
    connections: 0,
    open: 0,
    refused: 0,
    utterances: 0,
    maxConcurrent: 0,
    cancelled: 0,
    overLimit: 0,
    lateMessages: 0,
  }
}

/** Synthesises speech and waits `delays.firstMs`; null: synthesis failed. */
export async function speechOf(
  { speak, delays }: Pick<FakeVoiceOptions, 'speak' | 'delays'>,
  request: Parameters<Speak>[0],
): Promise<FakeSpeech | null> {
  const speech = await speak(request).catch(() => null)
  const firstMs = delays?.firstMs ?? 0
  if (firstMs > 0) await new Promise(resolve => setTimeout(resolve, firstMs))
  return speech
}

/** One utterance being sent, piece by piece. */
export class FakeUtterance {
  readonly #pieces: readonly Buffer[]
  readonly #gapMs: Ms
  readonly #onPiece: (piece: Buffer, index: number) => void
  readonly #onEnd: () => void
  #next = 0
  #left = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null

  constructor(
    { bytes, bytesPerMs }: WireAudio,
    { pieceBytes = 1601, pace = Number.POSITIVE_INFINITY }: Pick<FakeVoiceOptions, 'pieceBytes' | 'pace'>,
    listener: { readonly onPiece: (piece: Buffer, index: number) => void; readonly onEnd: () => void },
  ) {
    const pieces: Buffer[] = []
    for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(bytes.subarray(at, at + pieceBytes))
    this.#pieces = pieces
    this.#gapMs = pieceBytes / bytesPerMs / pace
    this.#onPiece = listener.onPiece
    this.#onEnd = listener.onEnd
    this.#schedule()
  }

  /** Ends after this many further pieces. */
  endAfter(pieces: number): void {
    this.#left = Math.min(this.#left, pieces)
  }

  stop(): void {
    this.#left = -1
    if (this.#timer !== null) clearTimeout(this.#timer as NodeJS.Timeout)
    if (this.#timer !== null) clearImmediate(this.#timer as NodeJS.Immediate)
  }

  #schedule(): void {
    const step = () => this.#step()
    this.#timer = this.#gapMs > 0 && this.#next > 0 ? setTimeout(step, this.#gapMs) : setImmediate(step)
  }

  #step(): void {
    if (this.#left < 0) return
    const piece = this.#pieces[this.#next]
    if (piece === undefined || this.#left === 0) {
      this.#left = -1
      this.#onEnd()
      return
    }
    this.#left--
    this.#onPiece(piece, this.#next++)
    this.#schedule()
  }
}
