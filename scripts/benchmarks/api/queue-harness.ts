import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { redisMissing, startRedis } from '@parley/store/testing'
import { LISTENER } from '../../proofs/calls/agents.ts'
import { CallHarness } from '../../proofs/calls/call-harness.ts'
import type { Line } from '../../proofs/calls/carrier-lines.ts'
import { pollUntil } from '../../proofs/calls/poll-until.ts'
import type { RolesProcess } from '../../proofs/calls/roles-process.ts'
import { type Ask, FAULTS_ARE } from './messages.ts'

export const QUEUES = ['postgres', 'redis'] as const
export type QueueKind = (typeof QUEUES)[number]

/** Planted faults, which the benchmark must show. */
interface PlantedFaults {
  /** Time wasted in each request, ms; default 0. */
  readonly wasteMs?: number
  /** Whether engines are not notified of admitted runs; default false. */
  readonly losesWakeUps?: boolean
}

interface QueueHarnessOptions {
  /** Backend of queue and bus. */
  readonly queue: QueueKind
  /** For `plant`; default none. */
  readonly faults?: PlantedFaults
}

export const LINE: Line = 'udp'
const AGENT = 'listener'
const MUCH = 100_000
const TURNED_WITHIN_MS = 10_000

/** Why the queue cannot be measured on this machine; null: it can. */
export function queueMissing(queue: QueueKind): string | null {
  return queue === 'redis' ? redisMissing() : null
}

/** API, worker, engine and a carrier, each in its own process. The carrier answers every call with 486. */
export class QueueHarness {
  readonly queue: QueueKind
  readonly calls: CallHarness
  /** URLs of the processes' metrics, by role. */
  readonly metrics: ReadonlyMap<string, string>
  readonly #endRedis: () => Promise<void>
  #nextNumber = 0

  private constructor(queue: QueueKind, calls: CallHarness, endRedis: () => Promise<void>) {
    this.queue = queue
    this.calls = calls
    // Read it now: only the end of a process's output is available.
    this.metrics = new Map(calls.processes.map(process => [process.roles, metricsOf(process, calls)]))
    this.#endRedis = endRedis
  }

  static async open({ queue, faults = {} }: QueueHarnessOptions): Promise<QueueHarness> {
    const redis = queue === 'redis' ? await startRedis() : null
    const endRedis = async () => redis?.stop()
    try {
      const calls = await CallHarness.open({
        processes: ['api', 'worker', 'engine'],
        numbers: [{ number: '*', behaviour: { do: 'refuse', status: 486 }, ringAfterMs: null }],
        lines: [LINE],
        env: {
          // Options of this process count too, such as those of a profiler.
          NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${planting(faults)}`.trim(),
          ...(redis !== null && { REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
        },
      })
      try {
        const harness = new QueueHarness(queue, calls, endRedis)
        await harness.#prepare()
        return harness
      } catch (error) {
        await calls.close()
        throw error
      }
    } catch (error) {
      await endRedis()
      throw error
    }
  }

  /** A request for an outbound call to a number that was not called before. */
  order(): { readonly ask: Ask; readonly to: string } {
    const number = this.#nextNumber++
    const to = `+1415${String(5_560_000 + number).padStart(7, '0')}`
    const body = { agent_id: AGENT, channel: 'phone', mode: 'outbound', to }
    const ask: Ask = { method: 'POST', path: '/api/v1/runs', body, idempotencyKey: `bench-${number}` }
    return { to, ask }
  }

  /** Activates the faults of the options in the API's process. */
  plant(): Promise<void> {
    return this.#turn('planted')
  }

  /** Deactivates the planted faults. */
  heal(): Promise<void> {
    return this.#turn('healed')
  }

  async close(): Promise<void> {
    await this.calls.close()
    await this.#endRedis()
  }

  async #turn(to: keyof typeof FAULTS_ARE): Promise<void> {
    const { api } = this.calls
    const printed = () => api.output.split(FAULTS_ARE[to]).length
    const before = printed()
    api.signal('SIGUSR2')
    const done = await pollUntil(TURNED_WITHIN_MS, async () => (printed() > before ? true : null))
    if (done === null)
      throw new Error(`the API process did not report "${FAULTS_ARE[to]}" within ${TURNED_WITHIN_MS} ms`)
  }

  async #prepare(): Promise<void> {
    const { calls } = this
    await calls.publish(AGENT, LISTENER, LINE)
    await calls.set({ set: 'capacity', value: MUCH })
    await calls.set({ set: 'rate_limit', value: { per_second: MUCH, burst: MUCH } })
    await calls.setCallsPerSecond(LINE, 1000)
    await calls.client.callLimits.update({ body: { daily_limit: null } })
  }
}

function metricsOf(process: RolesProcess, calls: CallHarness): string {
  if (process === calls.api) return `${calls.url}/metrics`
  const [, url] = /Health and metrics are at (http:\S+?)\.\s/.exec(process.output) ?? []
  if (url === undefined) throw new Error(`${process.roles} did not print the address of its metrics`)
  return `${url}/metrics`
}

function planting({ wasteMs = 0, losesWakeUps = false }: PlantedFaults): string {
  const url = pathToFileURL(join(import.meta.dirname, 'planted-faults.ts'))
  url.searchParams.set('wasteMs', String(wasteMs))
  if (losesWakeUps) url.searchParams.set('runQueue', 'lost')
  return url.href
}
