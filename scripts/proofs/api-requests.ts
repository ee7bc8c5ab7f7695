import { Agent } from 'node:http'
import { operations } from '@parley/contract'
import type { Handlers } from '@parley/control-plane/testing'
import { openWholeApi } from '@parley/control-plane/testing'
import { startTestServer, testDatabaseOn } from '@parley/store/testing'
import { answerFaults, type Trial } from './api/answer-faults.ts'
import { sendBytes, sendRaw } from './api/raw-http.ts'
import { RequestMaker } from './api/request-maker.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const AT_ONCE = 16
const NEW_RESOURCES_EVERY = 250
const RANDOM_BYTES_EVERY = 97
const PROGRESS_EVERY = 1000
const MAX_SHOWN = 50
const MAX_LIMITED_SHARE = 0.01

export type PlantedHandler = 'nothing' | 'a handler that throws'

/** A handler that the proof needs for nothing else, so that a few hundred requests reach it. */
const THROWS: Partial<Handlers> = { 'runs.list': () => Promise.reject(new TypeError('planted')) }

/**
 * Sends random requests to all operations of the API over HTTP, with a real Postgres, 16 at a time: valid ones, ones generated
 * from the schemas, mutated ones, odd ones and random bytes. Every request is answered, none with 5xx, less than 1 % with 429;
 * every operation succeeds at least once, and every answer conforms to the contract.
 */
export async function proveApiRequests(
  { seed, count, seconds, line, progress }: ProofOptions,
  planted: PlantedHandler = 'nothing',
): Promise<ProofOutcome> {
  const server = await startTestServer()
  const db = await testDatabaseOn(server.templateUrl)
  const api = await openWholeApi({ db }, planted === 'nothing' ? {} : THROWS)
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const report = new RequestReport(line)
  const maker = new RequestMaker(api, seed)
  const startedAt = performance.now()
  const isOver = () => performance.now() - startedAt > seconds * 1000
  let started = 0
  const work = async () => {
    while (started < count && !isOver()) {
      const index = started++
      if (index % NEW_RESOURCES_EVERY === NEW_RESOURCES_EVERY - 1) await maker.grow()
      if (index % PROGRESS_EVERY === PROGRESS_EVERY - 1) progress(`${index + 1} of ${count}: ${report.faults} faults`)
      if (index % RANDOM_BYTES_EVERY === RANDOM_BYTES_EVERY - 1) await tryRandomBytes(api.url, maker, report)
      else await tryOne(api.url, agent, await maker.next(), report)
    }
  }
  try {
    await maker.grow()
    // One after another: a random request beside them could change the environment under a valid one.
    while (started < Math.min(operations.length, count)) {
      await tryOne(api.url, agent, await maker.next(), report)
      started++
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    // The server must still work after all of these requests.
    const alive = await api.send('agents.list', {})
    const { succeeded, ...figures } = report.figures()
    const never = operations.filter(({ id }) => !succeeded.has(id)).map(({ id }) => id)
    const limited = (figures.statuses[429] ?? 0) / figures.requests
    const ok = report.faults === 0 && never.length === 0 && limited < MAX_LIMITED_SHARE && alive.status === 200
    const summary = {
      ...figures,
      operations: operations.length,
      never,
      faults: report.faults,
      unfinished: count - started,
    }
    return { ok, summary: { ...summary, seconds: Math.round((performance.now() - startedAt) / 1000) } }
  } finally {
    agent.destroy()
    await api.close()
    await db.close()
    await server.stop()
  }
}

async function tryOne(url: string, agent: Agent, trial: Trial, report: RequestReport): Promise<void> {
  const answer = await sendRaw(url, agent, trial.request).catch((error: unknown) => String(error))
  if (typeof answer === 'string') return report.note(trial, 0, [`no answer: ${answer}`])
  report.note(trial, answer.status, answerFaults(trial, answer))
}

/** The server may close a connection without an answer if the bytes are not an HTTP request. */
async function tryRandomBytes(url: string, maker: RequestMaker, report: RequestReport): Promise<void> {
  const bytes = maker.randomBytes()
  const request = { method: '', target: '', headers: {}, body: bytes }
  const trial: Trial = { kind: 'random bytes', operation: null, request }
  const answer = await sendBytes(url, bytes)
  report.note(trial, answer?.status ?? 0, answer === null ? [] : answerFaults(trial, answer))
}

class RequestReport {
  faults = 0
  readonly #line: ProofOptions['line']
  readonly #statuses: Record<number, number> = {}
  readonly #kinds: Record<string, number> = {}
  readonly #succeeded = new Set<string>()
  #requests = 0

  constructor(line: ProofOptions['line']) {
    this.#line = line
  }

  note({ kind, operation, request }: Trial, status: number, faults: readonly string[]): void {
    this.#requests++
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    const family = kind.split(':', 1)[0]!
    this.#kinds[family] = (this.#kinds[family] ?? 0) + 1
    if (operation !== null && status >= 200 && status < 300) this.#succeeded.add(operation.id)
    if (faults.length === 0 || ++this.faults > MAX_SHOWN) return
    const { method, target, body } = request
    const sent = { method, target: target.slice(0, 300), body: typeof body === 'string' ? body.slice(0, 1000) : null }
    this.#line({ proof: 'api-requests', kind, operation: operation?.id ?? null, status, faults, ...sent })
  }

  figures() {
    return {
      requests: this.#requests,
      statuses: this.#statuses,
      kinds: this.#kinds,
      succeeded: this.#succeeded,
    }
  }
}

export const proof: Proof = {
  name: 'api-requests',
  seconds: 1800,
  count: 20_000,
  run: options => proveApiRequests(options),
}
