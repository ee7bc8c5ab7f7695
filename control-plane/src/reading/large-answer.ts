import {
  type AnswerOf,
  draftResult,
  type Operation,
  type OperationId,
  type OperationNamed,
  operations,
} from '@parley/contract'
import { z } from 'zod'
import { ApiError } from '../errors.ts'

const HEAD = Object.keys(draftResult.shape)

/** Whose answers may be large, and which of their members never are. */
const SMALL_MEMBERS = {
  'drafts.get': HEAD,
  'drafts.open': HEAD,
  'publications.get': ['publication', 'warnings'],
  'agents.export': [],
} as const satisfies { readonly [Id in OperationId]?: readonly string[] }

type LargeAnswerId = keyof typeof SMALL_MEMBERS
type BodyOf<Id extends LargeAnswerId> = AnswerOf<OperationNamed<Id>>['body']

/**
 * A body whose large members were written and held to the operation's schema apart (`restOf`); the small ones are held
 * to it where answers are (`text`).
 */
export class LargeAnswer {
  readonly #operation: LargeAnswerId
  readonly #members: Readonly<Record<string, unknown>>
  readonly #rest: string

  constructor(operation: LargeAnswerId, members: Readonly<Record<string, unknown>>, rest: string) {
    this.#operation = operation
    this.#members = members
    this.#rest = rest
  }

  /** JSON of the whole body. Throws `answer_broken`. */
  text(): string {
    const head = checkedJson(this.#operation, 'small', this.#members)
    if (head === '{}') return this.#rest
    return this.#rest === '{}' ? head : `${head.slice(0, -1)},${this.#rest.slice(1)}`
  }

  toJSON(): unknown {
    return JSON.parse(this.text())
  }
}

/** As the handler of `operation` answers. `rest`: what `restOf` made. */
export function largeAnswer<Id extends LargeAnswerId>(
  operation: Id,
  members: Partial<BodyOf<Id>>,
  rest: string,
): BodyOf<Id> {
  // Handlers answer what the schema takes; the pipeline knows this by its class.
  return new LargeAnswer(operation, members, rest) as unknown as BodyOf<Id>
}

/** The large members of an answer as JSON, after the operation's schema took them. Throws `answer_broken`. */
export function largeMembersJson(operation: LargeAnswerId, members: Readonly<Record<string, unknown>>): string {
  return checkedJson(operation, 'rest', members)
}

function checkedJson(id: LargeAnswerId, part: Part, members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(validated(partOf(id, part), id, members))
}

/** The value after the schema took it. Throws `answer_broken`, which callers see as `internal`. */
export function validated(schema: z.ZodType, id: string, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const where = parsed.error.issues.slice(0, 5).map(({ path, code }) => `/${path.join('/')} (${code})`)
  // Places alone: what stands there may be a secret.
  throw new ApiError('answer_broken', `the answer of ${id} fails its own schema at ${where.join(', ')}`)
}

type Part = 'small' | 'rest'
const parts = new Map<string, z.ZodType>()

/** Strict like the whole: a member that belongs to neither part is refused. */
function partOf(id: LargeAnswerId, part: Part): z.ZodType {
  const name = `${part} ${id}`
  const kept = parts.get(name)
  if (kept !== undefined) return kept
  const { output }: Operation = operations.find(candidate => candidate.id === id)!
  if (!(output instanceof z.ZodObject)) throw new TypeError(`the answer of ${id} is no object`)
  const small: Record<string, true> = Object.fromEntries(SMALL_MEMBERS[id].map(member => [member, true]))
  const whole = output as z.ZodObject<Record<string, z.ZodType>>
  const made = part === 'small' ? whole.pick(small) : whole.omit(small)
  parts.set(name, made)
  return made
}
