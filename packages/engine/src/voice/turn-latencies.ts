import type { TurnLatency } from '@parley/conversation'
import type { CallerTurn } from '@parley/dialogue'
import type { Ms } from '@parley/kernel'

interface Answering {
  readonly turn: CallerTurn
  speechId: string | null
  voiceAskedAt: Ms | null
  voiceMs: Ms | null
  modelMs: Ms
  actionMs: Ms
}

/** Latency of each answer of the agent, from the end of the caller's speech to the agent's first sample, by component. */
export class TurnLatencies {
  #answering: Answering | null = null
  readonly #measured = new Map<string, TurnLatency>()
  readonly all: TurnLatency[] = []

  /** The caller finished a turn. */
  turn(turn: CallerTurn): void {
    this.#answering = { turn, speechId: null, voiceAskedAt: null, voiceMs: null, modelMs: 0, actionMs: 0 }
  }

  /** The first sentence of a speech was sent to the voice. `spent`: time spent on models and actions since the turn. */
  voiceAsked(speechId: string, now: Ms, spent: { readonly modelMs: Ms; readonly actionMs: Ms }): void {
    const answering = this.#answering
    if (answering === null || answering.speechId !== null) return
    answering.speechId = speechId
    answering.voiceAskedAt = now
    answering.modelMs = spent.modelMs
    answering.actionMs = spent.actionMs
  }

  voiceAnswered(speechId: string, now: Ms): void {
    const answering = this.#answering
    if (answering?.speechId !== speechId || answering.voiceAskedAt === null) return
    answering.voiceMs ??= now - answering.voiceAskedAt
  }

  /** The first sample of the speech was on the line at `at`. */
  audible(speechId: string, at: Ms): void {
    const answering = this.#answering
    if (answering?.speechId !== speechId) return
    this.#answering = null
    const { turn, modelMs, actionMs, voiceMs } = answering
    const e2e = at - turn.endMs
    const known = turn.endpointingMs + turn.recogniserMs + modelMs + actionMs + (voiceMs ?? 0)
    const latency = {
      e2e: whole(e2e),
      endpointing: whole(turn.endpointingMs),
      stt: whole(turn.recogniserMs),
      llm: whole(modelMs),
      tts: voiceMs === null ? null : whole(voiceMs),
      engine: whole(Math.max(0, e2e - known)),
    }
    this.#measured.set(speechId, latency)
    this.all.push(latency)
  }

  /** Removes and returns the latency of this speech; null if none was measured. */
  take(speechId: string): TurnLatency | null {
    const latency = this.#measured.get(speechId) ?? null
    this.#measured.delete(speechId)
    return latency
  }
}

function whole(ms: Ms): Ms {
  return Math.max(0, Math.round(ms))
}
