import { SeededRandom } from '@parley/kernel'
import { resemblance } from '@parley/phone/testing'
import type { SpeechChunk, TextToSpeech } from '@parley/providers'

const SECOND = 8000
/** The audio repeats after this time; pieces are searched only near their expected position. */
const PERIOD_S = 16
/** Audio that is queued ahead of real time, as by a streaming voice. */
const AHEAD_S = 3
/** Largest shift of a piece from its expected position, samples. */
const SLACK = SECOND / 2
const FAR_SLACK = 3 * SECOND
/** Below this score a half second is not the sent speech: silence, noise or another voice. */
const PIECE_FLOOR = 0.5
const PIECE_SURE = 0.8

/** Endless speech-like noise, different for every seed. */
export class Talk {
  readonly #samples: Int16Array

  constructor(seed: number) {
    const random = new SeededRandom(seed)
    const bytes = random.bytes(PERIOD_S * SECOND)
    this.#samples = new Int16Array(PERIOD_S * SECOND)
    // Low frequencies, as in voices, survive small differences between two sample clocks.
    let [low, lower] = [0, 0]
    for (let i = 0; i < this.#samples.length; i++) {
      low += 0.2 * (bytes[i]! / 127.5 - 1 - low)
      lower += 0.2 * (low - lower)
      const syllable = 0.55 + 0.45 * Math.sin((2 * Math.PI * i) / (SECOND / 4) + seed)
      this.#samples[i] = Math.round(60_000 * lower * syllable)
    }
  }

  second(at: number): Int16Array {
    const from = (at % PERIOD_S) * SECOND
    return this.#samples.slice(from, from + SECOND)
  }

  opening(seconds: number): Int16Array {
    return this.#samples.slice(0, seconds * SECOND)
  }
}

/** Seconds of audio that must be queued by now. By the clock, because timers of a busy process are late. */
function due(began: number): number {
  return AHEAD_S + Math.floor((performance.now() - began) / 1000)
}

/** Queues audio a few seconds ahead; returns the function that stops it. */
export function talkOn(talk: Talk, play: (audio: Int16Array) => void): () => void {
  const began = performance.now()
  let next = 0
  const catchUp = () => {
    while (next < due(began)) play(talk.second(next++))
  }
  catchUp()
  const timer = setInterval(catchUp, 250)
  return () => clearInterval(timer)
}

/** A voice that speaks until it is cancelled, regardless of the text. */
export function talkingVoice(talk: Talk): TextToSpeech {
  return {
    id: 'test/talk',
    languages: ['en'],
    readiness: async () => null,
    async *synthesize(_request, signal): AsyncIterable<SpeechChunk> {
      const began = performance.now()
      for (let at = 0; !signal.aborted; at++) {
        while (at >= due(began) && !signal.aborted) await new Promise(resolve => setTimeout(resolve, 250))
        yield { samples: talk.second(at), words: [] }
      }
    },
    close: async () => {},
  }
}

/** How much of the sent audio was received. */
export interface Intelligibility {
  /** Seconds of audio that were searched. */
  readonly seconds: number
  readonly missing: number
  readonly worst: number
  readonly median: number
}

/** Searches every second of `talk` in `received`, near its expected position. */
export function intelligibility(talk: Talk, received: Int16Array): Intelligibility {
  const opening = talk.opening(4)
  const { score, offsetMs } = resemblance(opening, received.subarray(0, 16 * SECOND))
  let offset = Math.max(0, Math.round(offsetMs * 8))
  if (score < PIECE_FLOOR) return { seconds: 0, missing: 1, worst: score, median: score }
  const scores: number[] = []
  for (let at = 0; offset + (at + 1) * SECOND + SLACK <= received.length; at++) {
    const near = find(talk.second(at), received, offset + at * SECOND, SLACK)
    scores.push(near.score)
    // A missed send slot delays everything after it; after a long stall the search range is larger.
    const found = near.score > PIECE_SURE ? near : find(talk.second(at), received, offset + at * SECOND, FAR_SLACK)
    if (found.score > PIECE_SURE) offset = found.at - at * SECOND
  }
  scores.sort((a, b) => a - b)
  return {
    seconds: scores.length,
    missing: scores.filter(score => score < PIECE_FLOOR).length,
    worst: rounded(scores[0] ?? 0),
    median: rounded(scores[scores.length >> 1] ?? 0),
  }
}

/** Finds the best match of `piece` in `received` within `slack` samples of `where`. */
function find(piece: Int16Array, received: Int16Array, where: number, slack: number): { score: number; at: number } {
  const from = Math.max(0, where - slack)
  const { score, offsetMs } = resemblance(piece, received.subarray(from, where + piece.length + slack))
  return { score, at: from + Math.round(offsetMs * 8) }
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
