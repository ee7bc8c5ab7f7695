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

/** The operations whose answers may be large, with the members of the answer that are always small. Agents of a list are checked one by one. */
const SMALL_MEMBERS = {
  'agents.list': ['issues', 'next_cursor'],
  'drafts.get': HEAD,
  'drafts.open': HEAD,
  'publications.get': ['publication', 'gate', 'certificate', 'warnings'],
  'agents.export': [],
} as const satisfies { readonly [Id in OperationId]?: readonly string[] }

type LargeAnswerId = keyof typeof SMALL_MEMBERS
type BodyOf<Id extends LargeAnswerId> = AnswerOf<OperationNamed<Id>>['body']

/**
 * A body whose large members were validated and serialised before, on a worker thread (`largeMembersJson`); `text`
 * validates the small members and joins both.
 */
export class LargeAnswer {
  readonly #operation: LargeAnswerId
  readonly #members: Readonly<Record<string, unknown>>
  readonly #rest: string

  /** `rest`: JSON of the other members, in an object. */
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

/** The answer of a handler. `rest`: the large members, made by `largeMembersJson`. */
export function largeAnswer<Id extends LargeAnswerId>(
  operation: Id,
  members: Partial<BodyOf<Id>>,
  rest: string,
): BodyOf<Id> {
  // The type is that of the handler's answer; the pipeline recognises the class.
  return new LargeAnswer(operation, members, rest) as unknown as BodyOf<Id>
}

/** The large members of an answer as JSON, validated by the operation's schema. Throws `answer_broken`. */
export function largeMembersJson(operation: LargeAnswerId, members: Readonly<Record<string, unknown>>): string {
  return checkedJson(operation, 'rest', members)
}

function checkedJson(id: LargeAnswerId, part: Part, members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(validated(partOf(id, part), id, members))
}

/** The value as the schema parsed it. Throws `answer_broken`, which clients see as `internal`. */
export function validated(schema: z.ZodType, id: string, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const where = parsed.error.issues.slice(0, 5).map(({ path, code }) => `/${path.join('/')} (${code})`)
  // Only paths and codes: the values may be secrets.
  throw new ApiError('answer_broken', `the answer of ${id} fails its own schema at ${where.join(', ')}`)
}

type Part = 'small' | 'rest'
const parts = new Map<string, z.ZodType>()

/** The schema of a part of the answer. It is strict: a member of neither part is refused. */
function partOf(id: LargeAnswerId, part: Part): z.ZodType {
  const name = `${part} ${id}`
  const cached = parts.get(name)
  if (cached !== undefined) return cached
  const { output }: Operation = operations.find(candidate => candidate.id === id)!
  if (!(output instanceof z.ZodObject)) throw new TypeError(`the answer of ${id} is not an object`)
  const small: Record<string, true> = Object.fromEntries(SMALL_MEMBERS[id].map(member => [member, true]))
  const whole = output as z.ZodObject<Record<string, z.ZodType>>
  const made = part === 'small' ? whole.pick(small) : whole.omit(small)
  parts.set(name, made)
  return made
}
