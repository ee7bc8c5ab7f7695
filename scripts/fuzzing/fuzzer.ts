import { Worker } from 'node:worker_threads'

export interface FuzzProgress {
  readonly target: string
  readonly runs: number
  readonly seconds: number
  /** Inputs in the corpus: each reached new code. */
  readonly corpus: number
  /** Characters of code reached so far. */
  readonly covered: number
  readonly slowestMs: number
  /** Different faults found. */
  readonly found: number
}

export interface Finding {
  readonly target: string
  readonly error: string
  /** The frame that threw. */
  readonly at: string
  readonly length: number
  readonly inputBase64: string
}

export interface FuzzReport extends FuzzProgress {
  readonly findings: readonly Finding[]
}

/** Settings of the fuzzing thread. */
export interface FuzzOrder {
  readonly target: string
  readonly seed: number
  readonly seconds: number
  readonly count: number
  /** A run counter, the length of the input being run, then its bytes. */
  readonly current: SharedArrayBuffer
}

interface FuzzOptions {
  readonly target: string
  readonly seed: number
  /** It ends at the first of the two. */
  readonly seconds: number
  readonly count: number
  /** An input that takes this long hangs. Default: 5000. */
  readonly hangMs?: number
  readonly onProgress?: (progress: FuzzProgress) => void
}

const CURRENT_BYTES = 65_536
const HEADER_BYTES = 8

/** Runs one target in a thread of its own, which is ended when an input does not come back: that is a finding too. */
export function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const current = new SharedArrayBuffer(HEADER_BYTES + CURRENT_BYTES)
  const header = new Int32Array(current, 0, 2)
  const { target, seed, seconds, count } = options
  const order: FuzzOrder = { target, seed, seconds, count, current }
  const worker = new Worker(new URL('./fuzz-thread.ts', import.meta.url), { workerData: order })
  const hangMs = options.hangMs ?? 5000
  return new Promise((resolve, reject) => {
    let last: FuzzProgress = { target, runs: 0, seconds: 0, corpus: 0, covered: 0, slowestMs: 0, found: 0 }
    let runs = -1
    const watch = setInterval(() => {
      const now = Atomics.load(header, 0)
      if (now !== runs || now === 0) {
        runs = now
        return
      }
      const bytes = Buffer.from(current, HEADER_BYTES, Math.min(header[1]!, CURRENT_BYTES))
      const finding: Finding = {
        target,
        error: `an input took more than ${hangMs} ms`,
        at: '',
        length: header[1]!,
        inputBase64: Buffer.from(bytes).toString('base64'),
      }
      settle(() => resolve({ ...last, runs: now, found: last.found + 1, findings: [finding] }))
    }, hangMs)
    const settle = (then: () => void) => {
      clearInterval(watch)
      void worker.terminate().then(then)
    }
    worker.on('message', (message: { progress?: FuzzProgress; report?: FuzzReport }) => {
      if (message.progress !== undefined) {
        last = message.progress
        options.onProgress?.(last)
      }
      const { report } = message
      if (report !== undefined) settle(() => resolve(report))
    })
    worker.on('error', error => settle(() => reject(error)))
  })
}
