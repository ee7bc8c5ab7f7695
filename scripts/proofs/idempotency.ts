import { setTimeout as pause } from 'node:timers/promises'
import { type Random, randomBelow, SeededRandom } from '@parley/kernel'
import { countCreated, createFaults, nameOf } from './api/create-faults.ts'
import { type CreateOptions, carryOut, type KeyedCreate, keyedCreate, prepareCreates } from './api/keyed-creates.ts'
import { ServedApi } from './api/served-api.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const AT_ONCE = 16
const CREATES_PER_KILL = 100
const MIN_KILLS = 2
const MAX_KILL_DELAY_MS = 40
const RECOVERY_TIMEOUT_MS = 15_000
const BETWEEN_OUTAGES_MS = 500
const MAX_SHOWN = 50
/** Above the numbers of all other creates, which determine their names. */
const FIRST_PLANTED = 900_000

/**
 * Creates resources, each with its own idempotency key, 16 at a time. The client retries while the process of the API is
 * killed and restarted, and then while the database is shut down immediately and killed. In the end each key has one resource
 * and one answer, every refusal was correct, and the API works again within 15 s of an outage. Planted fault: a client that
 * uses a new key for each attempt; the same check must report it.
 */
export async function proveIdempotency({ seed, count, line, progress }: ProofOptions): Promise<ProofOutcome> {
  const random = new SeededRandom(seed)
  const served = await ServedApi.open()
  try {
    const { url, key } = served
    const options: CreateOptions = { url, key, ...(await prepareCreates(url, key)), planted: 'nothing' }
    const load = new Load(seed, options)
    const kills = await createDuringKills(served, load, count, random, progress)
    const killed = load.creates.length
    progress(`${killed} creates, ${kills} kills`)
    const outages = await createDuringOutages(served, load, progress)
    const faults = await faultsOf(served, load.creates, options)
    for (const fault of faults.slice(0, MAX_SHOWN)) line({ proof: 'idempotency', ...fault })
    const isPlantedFound = await findsPlanted(served, seed, options)
    line({ proof: 'idempotency', planted: 'fresh keys for retries', found: isPlantedFound })
    const isRecovered = outages.every(({ back_ms }) => back_ms !== null && back_ms < RECOVERY_TIMEOUT_MS)
    const creates = { while_killed: killed, while_without_database: load.creates.length - killed }
    const attempts = {
      while_killed: attemptCounts(load.creates.slice(0, killed)),
      later: attemptCounts(load.creates.slice(killed)),
    }
    const summary = { creates, kills, outages, attempts, planted_found: isPlantedFound, faults: faults.length }
    return { ok: faults.length === 0 && isRecovered && isPlantedFound, summary }
  } finally {
    await served.close()
  }
}

/** The creates, 16 at a time. */
class Load {
  readonly creates: KeyedCreate[] = []
  done = 0
  /** Number of creates that may have started; the others wait until it is raised. */
  limit = Number.POSITIVE_INFINITY
  readonly #seed: number
  readonly #options: CreateOptions
  readonly #first: number

  constructor(seed: number, options: CreateOptions, first = 0) {
    this.#seed = seed
    this.#options = options
    this.#first = first
  }

  /** Creates resources, 16 at a time, while `isWanted` returns true. */
  async run(isWanted: () => boolean): Promise<void> {
    const work = async () => {
      while (isWanted()) {
        if (this.creates.length >= this.limit) {
          await pause(2)
          continue
        }
        const create = keyedCreate(this.#seed, this.#first + this.creates.length)
        this.creates.push(create)
        await carryOut(create, this.#options)
        this.done++
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }
}

async function createDuringKills(
  served: ServedApi,
  load: Load,
  count: number,
  random: Random,
  progress: (text: string) => void,
): Promise<number> {
  const kills = Math.max(MIN_KILLS, Math.ceil(count / CREATES_PER_KILL))
  const share = Math.floor(count / (kills + 1))
  const marks = Array.from({ length: kills }, (_, kill) => share * kill + 1 + randomBelow(random, share))
  load.limit = 0
  const running = load.run(() => load.creates.length < count)
  try {
    for (const [killed, mark] of marks.entries()) {
      // Keeps some creates in progress at the kill, however fast they are.
      load.limit = mark + 2 * AT_ONCE
      while (load.done < mark) await pause(2)
      await pause(randomBelow(random, MAX_KILL_DELAY_MS))
      await served.kill()
      await served.start()
      progress(`killed ${killed + 1} times, ${load.done} of ${count} done`)
    }
  } finally {
    load.limit = Number.POSITIVE_INFINITY
    await running
  }
  return kills
}

interface Outage {
  readonly signal: string
  /** Time from the signal to the first success of a create that started after the outage began, ms; null: none within 15 s. */
  readonly back_ms: number | null
}

async function createDuringOutages(served: ServedApi, load: Load, progress: (text: string) => void): Promise<Outage[]> {
  let isOver = false
  const running = load.run(() => !isOver)
  const outages: Outage[] = []
  try {
    for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
      await pause(BETWEEN_OUTAGES_MS)
      const outage = { signal, back_ms: await recoveryTime(served, load, signal) }
      outages.push(outage)
      progress(`database stopped by ${signal}: the API works again after ${outage.back_ms} ms`)
    }
  } finally {
    isOver = true
    await running
  }
  return outages
}

async function recoveryTime(served: ServedApi, load: Load, signal: 'SIGQUIT' | 'SIGKILL'): Promise<number | null> {
  const pid = served.databasePid()
  if (pid === null) throw new Error('the database of the served API has no process id')
  const startedAt = performance.now()
  process.kill(pid, signal)
  const isLate = () => performance.now() - startedAt > RECOVERY_TIMEOUT_MS
  while (served.databasePid() === pid && !isLate()) await pause(5)
  const downAt = performance.now()
  while (!isLate()) {
    if (load.creates.some(({ attempts }) => attempts.some(({ beganAt, status }) => beganAt > downAt && status === 201)))
      return Math.round(performance.now() - startedAt)
    await pause(10)
  }
  return null
}

interface Fault {
  readonly mark: string
  readonly faults: readonly string[]
  /** The last 20 attempts. */
  readonly attempts: readonly string[]
}

async function faultsOf(served: ServedApi, creates: readonly KeyedCreate[], options: CreateOptions): Promise<Fault[]> {
  const counted = await countCreated(served.url, served.key, await served.ownerUrl())
  const found: Fault[] = []
  let next = 0
  const work = async () => {
    while (next < creates.length) {
      const create = creates[next++]!
      const faults = await createFaults(create, counted, options)
      const { mark, attempts } = create
      if (faults.length > 0) found.push({ mark, faults, attempts: attempts.map(nameOf).slice(-20) })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return found
}

async function findsPlanted(served: ServedApi, seed: number, options: CreateOptions): Promise<boolean> {
  const load = new Load(seed, { ...options, planted: 'fresh keys for retries' }, FIRST_PLANTED)
  await load.run(() => load.creates.length === 0)
  const [fault] = await faultsOf(served, load.creates, options)
  return fault?.faults.some(text => text.includes('2 times in the table')) === true
}

function attemptCounts(creates: readonly KeyedCreate[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const attempt of creates.flatMap(({ attempts }) => attempts)) {
    const name = nameOf(attempt)
    found[name] = (found[name] ?? 0) + 1
  }
  return found
}

export const proof: Proof = {
  name: 'idempotency',
  seconds: 600,
  count: 1000,
  run: options => proveIdempotency(options),
}
