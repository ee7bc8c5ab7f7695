/** What a server process is started with. */
export interface ServerOptions {
  readonly ownerUrl: string
  /** Directory of the master key. */
  readonly home: string
  /** Time wasted in each request, ms: a planted fault. */
  readonly plantedMs: number
}

/** The message that the process sends when it listens. */
export interface ServerReady {
  readonly url: string
}

/** One request, which is sent repeatedly. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly body?: unknown
  readonly idempotencyKey?: string
}

/** Path prefix of the bare server, which does only the same lookups and inserts as the API. */
export const BARE_PREFIX = '/bare'

/** Lines that a process prints when its planted faults become active, and when they end. */
export const FAULTS_ARE = { planted: 'faults are planted', healed: 'faults are healed' } as const
