/** What a server process is started with. */
export interface ServerOptions {
  readonly ownerUrl: string
  /** Directory of the master key. */
  readonly home: string
  /** Time that the whole pipeline wastes in each request: a fault that must show. */
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

/** Where the bare server takes a path of the API: the same lookups, and nothing else. */
export const BARE_PREFIX = '/bare'

/** Lines that a process prints when its planted faults become active, and when they end. */
export const FAULTS_ARE = { planted: 'faults are planted', healed: 'faults are healed' } as const
