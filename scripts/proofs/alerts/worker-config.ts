/** The key under which API and workers of the proof seal. */
export const MASTER_KEY: ReadonlyMap<number, Buffer> = new Map([[1, Buffer.alloc(32, 7)]])

/** What a worker process of the proof is told. */
export interface WorkerConfig {
  readonly ownerUrl: string
  /** Of the receiver of chat, paging and webhooks on loopback. */
  readonly receiverPort: number
  /** Time from one evaluation of a rule to the next. */
  readonly everyMs: number
  /** How long a delivery whose worker died stays its own. */
  readonly leaseMs: number
}
