import { type Profiler, Session } from 'node:inspector'

/** The harness is not what is being explored, nor what it shares with the product. */
const HARNESS = ['/node_modules/', '/packages/kernel/', '/scripts/fuzzing/', '/scripts/repository.ts']

/** Offsets into scripts, ascending. */
type News = Map<string, readonly number[]>

/**
 * Which characters of the project's code have ever run, asked of V8 itself: no instrumentation, under a millisecond per
 * question.
 */
export class Coverage {
  readonly #session = new Session()
  readonly #root: string
  readonly #explored: string
  /** Per script, a one for every character that ran. */
  readonly #known = new Map<string, Uint8Array>()
  #covered = 0

  /** Counts files below `root`, a file URL; `explored` is one that counts although it belongs to the harness. */
  constructor(root: string, explored: string) {
    this.#root = root
    this.#explored = explored
    this.#session.connect()
    this.#post('Profiler.enable')
    // Call counts make V8 start from zero at every question.
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Characters reached so far. */
  get covered(): number {
    return this.#covered
  }

  /** What ran since the last question for the first time. Asking does not make it known. */
  news(): News {
    const news: News = new Map()
    for (const [script, ran] of this.#ran()) {
      const known = this.#known.get(script)
      const offsets: number[] = []
      for (let i = 0; i < ran.length; i++) if (ran[i] === 1 && known?.[i] !== 1) offsets.push(i)
      if (offsets.length > 0) news.set(script, offsets)
    }
    return news
  }

  /** Removes from `news` the code that ran since the last call; true when there was any. */
  explain(news: News): boolean {
    let explained = false
    for (const [script, ran] of this.#ran()) {
      const open = news.get(script)?.filter(offset => ran[offset] !== 1)
      if (open === undefined || open.length === news.get(script)?.length) continue
      explained = true
      if (open.length === 0) news.delete(script)
      else news.set(script, open)
    }
    return explained
  }

  learn(news: News): void {
    for (const [script, offsets] of news) {
      const length = 1 + offsets.at(-1)!
      const before = this.#known.get(script) ?? new Uint8Array(0)
      const known = before.length >= length ? before : extend(before, length)
      for (const offset of offsets) known[offset] = 1
      this.#known.set(script, known)
      this.#covered += offsets.length
    }
  }

  stop(): void {
    this.#post('Profiler.stopPreciseCoverage')
    this.#session.disconnect()
  }

  *#ran(): Generator<[script: string, ran: Uint8Array]> {
    for (const script of this.#post('Profiler.takePreciseCoverage').result) {
      // V8 leaves out a range that ran as often as the one around it: only painting the ranges in order shows what ran.
      if (this.#counts(script.url)) yield [script.scriptId, paint(script)]
    }
  }

  #counts(url: string): boolean {
    return url.startsWith(this.#root) && (url === this.#explored || !HARNESS.some(part => url.includes(part)))
  }

  /** Within one thread the answer is there when `post` returns. */
  #post(method: 'Profiler.takePreciseCoverage'): Profiler.TakePreciseCoverageReturnType
  #post(method: 'Profiler.enable' | 'Profiler.stopPreciseCoverage'): void
  #post(method: 'Profiler.startPreciseCoverage', params: Profiler.StartPreciseCoverageParameterType): void
  #post(method: string, params?: object): unknown {
    let answer: unknown
    this.#session.post(method, params, (error, result) => {
      if (error !== null) throw error
      answer = result
    })
    return answer
  }
}

/** Functions and their ranges come outer first, so the innermost has the last word on each character. */
function paint(script: Profiler.ScriptCoverage): Uint8Array {
  const end = Math.max(0, ...script.functions.map(found => found.ranges[0]?.endOffset ?? 0))
  const painted = new Uint8Array(end)
  for (const { ranges } of script.functions)
    for (const range of ranges) painted.fill(range.count > 0 ? 1 : 0, range.startOffset, range.endOffset)
  return painted
}

function extend(bytes: Uint8Array, length: number): Uint8Array {
  const longer = new Uint8Array(length)
  longer.set(bytes)
  return longer
}
