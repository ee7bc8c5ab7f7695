import type { Ms } from '@parley/kernel'

/** What the benchmark and its engine process tell each other; each request gets one reply. */
export type EngineRequest =
  | {
      readonly type: 'start'
      readonly home: string
      /** Silence after which the caller's turn is over, whatever was said. */
      readonly endpointingMs: Ms
      /** The model may be asked before it is certain that the caller has finished. */
      readonly asksAhead: boolean
      /** A planted fault: the model takes so much longer than its script says. */
      readonly plantedMs: Ms
      /** Variables that name the services; null: speechInput, voice and model are in the engine's process. */
      readonly services: Readonly<Record<string, string>> | null
    }
  | { readonly type: 'measure' }

export type EngineReply =
  | { readonly type: 'started'; readonly uri: string; readonly packetIo: 'native' | 'portable' }
  | { readonly type: 'measured'; readonly measures: EngineMeasures }
  | { readonly type: 'failed'; readonly detail: string }

/** Counted since the start. */
export interface EngineMeasures {
  /** Of the whole process, all threads. */
  readonly cpuMs: Ms
  /** Of the main thread's event loop. */
  readonly activeMs: Ms
  readonly idleMs: Ms
  readonly atMs: Ms
  /** Answers that the model was asked for. */
  readonly requests: number
  /** The turns among them that were not understood word by word. */
  readonly misheard: readonly string[]
}
