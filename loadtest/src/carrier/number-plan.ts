import { z } from 'zod'

const delayMs = z.number().min(0).max(86_400_000)
const sipUri = z
  .string()
  .max(512)
  .regex(/^sips?:/i)

export const refer = z.strictObject({ to: sipUri, afterMs: delayMs.default(0) })

export const reinvite = z.strictObject({
  afterMs: delayMs.default(0),
  times: z.int().min(1).max(1000).default(1),
  /** Time between two of them; default 1000. */
  everyMs: delayMs.default(1000),
})

/** Answers and stays in the call until either side hangs up. */
const answer = z.strictObject({
  do: z.literal('answer'),
  /** Delay after the INVITE; default 0. */
  afterMs: delayMs.default(0),
  /** Time from the answer to the hang-up; default: never. */
  hangUpAfterMs: delayMs.optional(),
  /** Sends a REFER to `to`, and hangs up when the far end has reported the outcome. */
  refer: refer.optional(),
  /** Sends re-INVITEs that change nothing, the first one this long after the answer. */
  reinvite: reinvite.optional(),
  /** "unanswered": a BYE of the far end is recorded and never answered; default "answered". */
  byes: z.enum(['answered', 'unanswered']).default('answered'),
})

const refuse = z.strictObject({
  do: z.literal('refuse'),
  /** 486 busy, 603 declined, 503 and so on. */
  status: z.int().min(400).max(699),
  afterMs: delayMs.default(0),
  /** Default: no Retry-After. */
  retryAfterS: z.int().min(0).max(86_400).optional(),
})

const redirect = z.strictObject({ do: z.literal('redirect'), contact: sipUri, afterMs: delayMs.default(0) })

/** Rings until the caller cancels. */
const ring = z.strictObject({ do: z.literal('ring') })

/** Sends no response at all, not even 100. */
const ignore = z.strictObject({ do: z.literal('ignore') })

const behaviour = z.discriminatedUnion('do', [answer, refuse, redirect, ring, ignore])

/**
 * What the carrier does with calls to `number`: the user part of the Request-URI, or with `*` at its end all numbers with this prefix.
 * `ringAfterMs`: delay of the 180 after the INVITE, default 0; null: no 180.
 */
const numberRule = z.strictObject({
  number: z.string().min(1).max(128),
  behaviour,
  ringAfterMs: delayMs.nullable().default(0),
})

export const numberRules = z.array(numberRule).max(100_000)

export type CarrierRefer = z.input<typeof refer>
export type CarrierReinvite = z.input<typeof reinvite>
export type NumberRule = z.output<typeof numberRule>
export type NumberRuleInput = z.input<typeof numberRule>

const UNKNOWN: NumberRule = {
  number: '*',
  ringAfterMs: null,
  behaviour: { do: 'refuse', status: 404, afterMs: 0 },
}

/** The rule of a called number: the exact one, else the one with the longest matching prefix, else 404. */
export class NumberPlan {
  readonly #exact = new Map<string, NumberRule>()
  readonly #prefixes: readonly NumberRule[]

  /** Throws ZodError for invalid rules. */
  constructor(rules: readonly NumberRuleInput[]) {
    const prefixes: NumberRule[] = []
    for (const rule of numberRules.parse(rules)) {
      if (rule.number.endsWith('*')) prefixes.push({ ...rule, number: rule.number.slice(0, -1) })
      else this.#exact.set(rule.number, rule)
    }
    this.#prefixes = prefixes.sort((a, b) => b.number.length - a.number.length)
  }

  ruleOf(called: string): NumberRule {
    return this.#exact.get(called) ?? this.#prefixes.find(rule => called.startsWith(rule.number)) ?? UNKNOWN
  }
}
