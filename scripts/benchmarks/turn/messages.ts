import type { Scope } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { TlsIdentity } from '@parley/sip'
import type { PlantedFault } from './faults.ts'

/** The documents that the agent searches while the caller speaks. */
export interface SearchedDocuments {
  readonly databaseUrl: string
  /** Of an OpenAI-compatible server. */
  readonly embeddingsUrl: string
  readonly scope: Scope
  /** Planted fault: delay of each search, ms. */
  readonly lateMs: Ms
}

/** Messages between the benchmark and its engine process; each request gets one reply. */
export type EngineRequest =
  | {
      readonly type: 'start'
      readonly home: string
      /** Silence that ends the caller's turn, whatever its words. */
      readonly endpointingMs: Ms
      /** Preemptive generation: the model may be asked before the end of turn is certain. */
      readonly asksAhead: boolean
      /** Whether calls are signalled over TLS and their audio is SRTP; otherwise UDP and RTP. */
      readonly secure: boolean
      /** Whether both channels of each call are recorded, in `home`. */
      readonly recorded: boolean
      /** Planted fault: delay of the model beyond its script, ms. */
      readonly plantedMs: Ms
      /** Other planted faults. */
      readonly faults: readonly PlantedFault[]
      /** Environment variables of the services; null: recogniser, voice and model run in the engine's process. */
      readonly services: Readonly<Record<string, string>> | null
      /** Null: the agent has no documents. */
      readonly documents: SearchedDocuments | null
    }
  | { readonly type: 'measure' }

export type EngineReply =
  | {
      readonly type: 'started'
      readonly uri: string
      readonly packetIo: 'native' | 'portable'
      readonly tls: TlsIdentity
    }
  | { readonly type: 'measured'; readonly measures: EngineMeasures }
  | { readonly type: 'failed'; readonly detail: string }

/** Counters since the start of the process. */
export interface EngineMeasures {
  /** Active and idle time of the main thread's event loop. */
  readonly activeMs: Ms
  readonly idleMs: Ms
  /** Number of requests to the model. */
  readonly requests: number
  /** Requests to the model with passages of documents. */
  readonly withPassages: number
  /** Turns whose words were not recognised exactly. */
  readonly misheard: readonly string[]
  /** Lines for which the model was asked before their end or more than once, over all calls. */
  readonly linesInTwo: number
}
