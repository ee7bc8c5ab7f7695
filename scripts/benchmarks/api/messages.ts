/** What a server process is started with. */
export interface ServerOptions {
  readonly ownerUrl: string
  /** Directory of the master key. */
  readonly home: string
  /** Time that the whole pipeline wastes in each request: a fault that must show. */
  readonly plantedMs: number
}

/** What it tells once it listens. */
export interface ServerReady {
  readonly url: string
}

/** One kind of request, asked over and over. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly body?: unknown
  readonly idempotencyKey?: string
}

/** Where the bare server takes a path of the API: the same lookups, and nothing else. */
export const BARE_PREFIX = '/bare'

/** What a process of the platform says when the faults are planted in it, and when they are healed. */
export const FAULTS_ARE = { planted: 'faults are planted', healed: 'faults are healed' } as const
