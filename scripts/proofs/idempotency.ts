import { setTimeout as pause } from 'node:timers/promises'
import { type Random, randomBelow, SeededRandom } from '@parley/kernel'
import { countCreated, createFaults, nameOf } from './api/create-faults.ts'
import { type CreateOptions, carryOut, type KeyedCreate, keyedCreate, prepareCreates } from './api/keyed-creates.ts'
import { ServedApi } from './api/served-api.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const AT_ONCE = 16
const CREATES_PER_KILL = 100
const FEWEST_KILLS = 2
const MOST_AFTER_MARK_MS = 40
const RECOVERED_WITHIN_MS = 15_000
const BETWEEN_OUTAGES_MS = 500
const SHOWN = 50
/** Behind all others, which have their names from their number. */
const FIRST_PLANTED = 900_000

/**
 * Creates, each with an idempotency key of its own, 16 at a time, sent again by the client's rule while the process that
 * serves them is killed and started again, and then while its database is shut down immediately and killed: each key has
 * one resource and one answer in the end, every refusal told the truth, and the API is back within 15 s of the outage. A
 * client that takes another key for another try is among them, and the same check must find it.
 */
export async function proveIdempotency({ seed, count, line, progress }: ProofOptions): Promise<ProofOutcome> {
  const random = new SeededRandom(seed)
  const served = await ServedApi.open()
  try {
    const { url, key } = served
    const options: CreateOptions = { url, key, ...(await prepareCreates(url, key)), planted: 'nothing' }
    const load = new Load(seed, options)
    const kills = await killedInBetween(served, load, count, random, progress)
    const killed = load.creates.length
    progress(`${killed} creates, ${kills} kills`)
    const outages = await withoutDatabase(served, load, progress)
    const faults = await faultsOf(served, load.creates, options)
    for (const fault of faults.slice(0, SHOWN)) line({ proof: 'idempotency', ...fault })
    const isPlantedFound = await findsPlanted(served, seed, options)
    line({ proof: 'idempotency', planted: 'fresh keys for retries', found: isPlantedFound })
    const isBack = outages.every(({ back_ms }) => back_ms !== null && back_ms < RECOVERED_WITHIN_MS)
    const creates = { while_killed: killed, while_without_database: load.creates.length - killed }
    const attempts = {
      while_killed: attemptCounts(load.creates.slice(0, killed)),
      later: attemptCounts(load.creates.slice(killed)),
    }
    const summary = { creates, kills, outages, attempts, planted_found: isPlantedFound, faults: faults.length }
    return { ok: faults.length === 0 && isBack && isPlantedFound, summary }
  } finally {
    await served.close()
  }
}

/** Creates under way. */
class Load {
  readonly creates: KeyedCreate[] = []
  done = 0
  /** So many are begun at most: the others wait until there may be more. */
  most = Number.POSITIVE_INFINITY
  readonly #seed: number
  readonly #options: CreateOptions
  readonly #first: number

  constructor(seed: number, options: CreateOptions, first = 0) {
    this.#seed = seed
    this.#options = options
    this.#first = first
  }

  /** 16 at a time while `isWanted` says so. */
  async run(isWanted: () => boolean): Promise<void> {
    const work = async () => {
      while (isWanted()) {
        if (this.creates.length >= this.most) {
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

async function killedInBetween(
  served: ServedApi,
  load: Load,
  count: number,
  random: Random,
  progress: (text: string) => void,
): Promise<number> {
  const kills = Math.max(FEWEST_KILLS, Math.ceil(count / CREATES_PER_KILL))
  const share = Math.floor(count / (kills + 1))
  const marks = Array.from({ length: kills }, (_, kill) => share * kill + 1 + randomBelow(random, share))
  load.most = 0
  const running = load.run(() => load.creates.length < count)
  try {
    for (const [killed, mark] of marks.entries()) {
      // However fast they are done: there are some under way when it is killed.
      load.most = mark + 2 * AT_ONCE
      while (load.done < mark) await pause(2)
      await pause(randomBelow(random, MOST_AFTER_MARK_MS))
      await served.kill()
      await served.start()
      progress(`killed ${killed + 1} times, ${load.done} of ${count} done`)
    }
  } finally {
    load.most = Number.POSITIVE_INFINITY
    await running
  }
  return kills
}

interface Outage {
  readonly signal: string
  /** From the signal to the first create that began after it was felt; null: none within 15 s. */
  readonly back_ms: number | null
}

async function withoutDatabase(served: ServedApi, load: Load, progress: (text: string) => void): Promise<Outage[]> {
  let isOver = false
  const running = load.run(() => !isOver)
  const outages: Outage[] = []
  try {
    for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
      await pause(BETWEEN_OUTAGES_MS)
      const outage = { signal, back_ms: await outOf(served, load, signal) }
      outages.push(outage)
      progress(`the database after ${signal}: back after ${outage.back_ms} ms`)
    }
  } finally {
    isOver = true
    await running
  }
  return outages
}

async function outOf(served: ServedApi, load: Load, signal: 'SIGQUIT' | 'SIGKILL'): Promise<number | null> {
  const pid = served.databasePid()
  if (pid === null) throw new Error('the database has no process')
  const startedAt = performance.now()
  process.kill(pid, signal)
  const isLate = () => performance.now() - startedAt > RECOVERED_WITHIN_MS
  while (served.databasePid() === pid && !isLate()) await pause(5)
  const feltAt = performance.now()
  while (!isLate()) {
    if (load.creates.some(({ attempts }) => attempts.some(one => one.beganAt > feltAt && one.status === 201)))
      return Math.round(performance.now() - startedAt)
    await pause(10)
  }
  return null
}

interface Fault {
  readonly mark: string
  readonly faults: readonly string[]
  /** The last of them. */
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
