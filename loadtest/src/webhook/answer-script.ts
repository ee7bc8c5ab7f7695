import { z } from 'zod'

const step = z.strictObject({
  /** A status, or "drop": the connection is cut without an answer. */
  answer: z.union([z.int().min(200).max(599), z.literal('drop')]),
  /** Number of requests; default 1. The last step of a script applies to all further requests. */
  times: z.int().min(1).max(1_000_000).default(1),
  /** Delay of the answer; default 0. */
  afterMs: z.number().min(0).max(3_600_000).default(0),
  /** Retry-After of the answer; default: none. */
  retryAfterS: z.int().min(0).max(86_400).optional(),
})

/** Answers by path, in order; the path "*" stands for all others. Default: 200 to every request. */
export const answerScripts = z.record(z.string(), z.array(step).min(1).max(1000))

type AnswerScriptsInput = z.input<typeof answerScripts>
export type AnswerStep = z.output<typeof step>

const ALWAYS_FINE: AnswerStep = { answer: 200, times: 1, afterMs: 0 }

/** Position of every path in its script. Paths without a script share that of "*". */
export class AnswerScript {
  readonly #steps: ReadonlyMap<string, readonly AnswerStep[]>
  readonly #answered = new Map<string, number>()

  /** Throws ZodError for invalid scripts. */
  constructor(scripts: AnswerScriptsInput) {
    this.#steps = new Map(Object.entries(answerScripts.parse(scripts)))
  }

  /** The answer to the next request of `path`. */
  next(path: string): AnswerStep {
    const key = this.#steps.has(path) ? path : '*'
    const steps = this.#steps.get(key)
    if (steps === undefined) return ALWAYS_FINE
    const before = this.#answered.get(key) ?? 0
    this.#answered.set(key, before + 1)
    let left = before
    for (const step of steps) {
      if (left < step.times) return step
      left -= step.times
    }
    return steps.at(-1)!
  }
}
