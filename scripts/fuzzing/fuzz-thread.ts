// The thread that runs a fuzz target. Everything that it tries is first written where its owner can read it, so that an
// input that never comes back is known as well.
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { SeededRandom } from '@parley/kernel'
import { repositoryRoot } from '../repository.ts'
import { Coverage } from './coverage.ts'
import type { Finding, FuzzOrder, FuzzProgress, FuzzReport } from './fuzzer.ts'
import { type Gene, mutate } from './mutate.ts'
import { type FuzzTarget, loadTarget } from './target.ts'

/** Inputs between two questions about coverage; more when little is new, since a question costs as much as many inputs. */
const MIN_BATCH = 32
const MAX_BATCH = 512
const REPORT_EVERY_MS = 1000
const CLOCK_EVERY = 16
/** A single fault shows up again and again: enough of one kind to see it, not enough to bury another. */
const MAX_FINDINGS = 20

class FuzzThread {
  readonly #order: FuzzOrder
  readonly #target: FuzzTarget
  readonly #random: SeededRandom
  readonly #current: Int32Array
  readonly #currentBytes: Uint8Array
  readonly #corpus: Uint8Array[]
  readonly #coverage: Coverage
  readonly #findings = new Map<string, Finding>()
  readonly #started = performance.now()
  #runs = 0
  #slowestMs = 0
  #reportedAt = 0

  constructor(order: FuzzOrder, target: FuzzTarget) {
    this.#order = order
    this.#target = target
    this.#random = new SeededRandom(order.seed)
    this.#current = new Int32Array(order.current, 0, 2)
    this.#currentBytes = new Uint8Array(order.current, 8)
    this.#coverage = new Coverage(`${pathToFileURL(repositoryRoot)}/`, pathToFileURL(target.module).href)
    this.#corpus = [new Uint8Array(0), ...target.seeds.map(seed => Uint8Array.from(seed))]
  }

  run(): FuzzReport {
    for (const seed of this.#corpus) this.#try(seed)
    this.#coverage.learn(this.#coverage.news())
    const gene: Gene = { corpus: this.#corpus, dictionary: this.#target.dictionary, maxLength: this.#target.maxLength }
    let size = MIN_BATCH
    while (!this.#isOver()) {
      const batch = Array.from({ length: size }, () => mutate(gene, this.#random))
      for (const input of batch) this.#try(input)
      const productive = this.#thatReachedNewCode(batch)
      this.#corpus.push(...productive)
      size = productive.length > 0 ? MIN_BATCH : Math.min(MAX_BATCH, 2 * size)
    }
    this.#coverage.stop()
    return { ...this.#progress(), findings: [...this.#findings.values()] }
  }

  /** Only a batch that reached something is run again, one input at a time, to know which one it was. */
  #thatReachedNewCode(batch: readonly Uint8Array[]): Uint8Array[] {
    const news = this.#coverage.news()
    this.#coverage.learn(news)
    return batch.filter(input => {
      if (news.size === 0) return false
      this.#try(input)
      return this.#coverage.explain(news)
    })
  }

  #try(input: Uint8Array): void {
    this.#currentBytes.set(input.subarray(0, this.#currentBytes.length))
    Atomics.store(this.#current, 1, input.length)
    Atomics.add(this.#current, 0, 1)
    const timed = ++this.#runs % CLOCK_EVERY === 0
    const before = timed ? performance.now() : 0
    try {
      // A copy: a target that writes into its input must not spoil the corpus.
      this.#target.run(input.slice())
    } catch (error) {
      this.#found(error, input)
    }
    if (!timed) return
    const now = performance.now()
    this.#slowestMs = Math.max(this.#slowestMs, now - before)
    if (now - this.#reportedAt < REPORT_EVERY_MS) return
    this.#reportedAt = now
    parentPort!.postMessage({ progress: this.#progress() })
  }

  #found(error: unknown, input: Uint8Array): void {
    const thrown = error instanceof Error ? error : new Error(String(error))
    const frame =
      (thrown.stack ?? '')
        .split('\n')
        .find(line => line.trimStart().startsWith('at '))
        ?.trim() ?? ''
    const kind = `${thrown.name}: ${frame || thrown.message}`
    const known = this.#findings.get(kind)
    // The shortest input of a kind is the easiest to read.
    if (known === undefined ? this.#findings.size >= MAX_FINDINGS : known.length <= input.length) return
    this.#findings.set(kind, {
      target: this.#target.name,
      error: `${thrown.name}: ${thrown.message}`,
      at: frame.replaceAll(`${pathToFileURL(repositoryRoot)}/`, ''),
      length: input.length,
      inputBase64: Buffer.from(input).toString('base64'),
    })
  }

  #isOver(): boolean {
    const { seconds, count } = this.#order
    return this.#runs >= count || performance.now() - this.#started >= seconds * 1000
  }

  #progress(): FuzzProgress {
    return {
      target: this.#target.name,
      runs: this.#runs,
      seconds: Math.round((performance.now() - this.#started) / 100) / 10,
      corpus: this.#corpus.length,
      covered: this.#coverage.covered,
      slowestMs: Math.round(this.#slowestMs * 10) / 10,
      found: this.#findings.size,
    }
  }
}

const order = workerData as FuzzOrder
const thread = new FuzzThread(order, await loadTarget(order.target))
parentPort!.postMessage({ report: thread.run() })
