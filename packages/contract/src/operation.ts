import { text } from '@parley/nodes'
import type { z } from 'zod'
import { ERROR_CODES, type Refusals } from './errors.ts'
import type { Role } from './values/names.ts'

/** The role that each permission scope requires; some operations declare a scope instead of a role. */
const SCOPE_ROLE = { 'tenant:read': 'viewer', 'tenant:write': 'member' } as const satisfies Record<string, Role>
type PermissionScope = keyof typeof SCOPE_ROLE

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * `required_header`: the header Idempotency-Key is required; `natural`: a repetition has no further effect; `none`:
 * neither.
 */
type Idempotency = 'required_header' | 'natural' | 'none'

/**
 * `transactional`: idempotency record, change and audit are one transaction; `external`: the operation calls an
 * external service between two transactions, so it can end with `outcome_unknown`.
 */
type OperationKind = 'transactional' | 'external'

export type Status = 200 | 201 | 202

/** The media type of a successful response: one JSON document, or server-sent events with one each. */
export type MediaType = 'application/json' | 'text/event-stream'

/** The rate limit bucket of the API key that a request counts against. */
export type RateClass = 'default' | 'costly'

interface Hints {
  readonly readOnly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
}

export const MIB = 1_048_576

const ordinaryKey = text(1, 256)
/** 8 to 255 printable ASCII characters, no spaces. */
export const printableKey = text(8, 255).regex(/^[\x21-\x7e]*$/, 'printable ASCII without spaces')

type Part = z.ZodObject | null

/** The declaration of an operation; `operation` adds derived values and defaults. */
interface Declaration<
  Id extends string,
  Params extends Part,
  Query extends Part,
  Body extends Part,
  Output extends z.ZodType,
  Statuses extends readonly [Status, ...Status[]],
  Repeat extends Idempotency,
  Kind extends OperationKind,
> {
  /** Resource and verb, such as `agents.create`. Also the `action` of its audit items. */
  readonly id: Id
  readonly method: Method
  /** Begins with `/api/v1`, or `/auth` for signing in; `{name}` is a member of `params`. */
  readonly path: string
  /** One line, which is also the description of the tool. */
  readonly summary: string
  readonly role: Role | PermissionScope
  readonly idempotency: Repeat
  readonly params: Params
  readonly query: Query
  /** A body without required members may be absent. */
  readonly body: Body
  readonly output: Output
  /** The status of a first execution, then the status of a replay or of a request that had nothing to do. */
  readonly statuses: Statuses
  /** Errors specific to this operation; `operation` adds the common ones. */
  readonly refusals: Refusals
  /** Default: transactional. */
  readonly kind?: Kind
  /** Default: the id with `_` in place of the dot. Null: no tool. */
  readonly tool?: string | null
  /** The body as the tool list shows it, where the whole schema is too long for a model; requests are held to `body`. Default: `body`. */
  readonly toolBody?: z.ZodObject
  /** Default: any 1..256 characters. Only with `required_header`. */
  readonly idempotencyKey?: z.ZodString
  /** Default: derived from method and idempotency. */
  readonly hints?: Partial<Hints>
  /** Maximum size of the body in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
  /** Default: `default`. */
  readonly rate?: RateClass
  /** Whether reads are audited, as changes always are. Default false. */
  readonly auditsReads?: boolean
  /**
   * Whether a retry with the same key, after a lost response or `outcome_unknown`, finds the effect of the first
   * request and continues from it. Only for kind `external`. Default false.
   */
  readonly resumable?: boolean
  /**
   * How long an answer waits, in ms, to be delivered once: a retry gets it if the first client was gone before it was sent, and
   * every later one is refused as `preview_consumed`. Only for kind `external`. Default null: each retry gets the answer again.
   */
  readonly deliversOnceMs?: number | null
  /** Default: JSON. `output` is the response body, or the data of one event. */
  readonly media?: MediaType
}

/** One operation of the API as data. Routes, OpenAPI document, tools, client and handler types are derived from it. */
export interface Operation<
  Id extends string = string,
  Params extends Part = Part,
  Query extends Part = Part,
  Body extends Part = Part,
  Output extends z.ZodType = z.ZodType,
  Statuses extends readonly Status[] = readonly Status[],
  Repeat extends Idempotency = Idempotency,
  Kind extends OperationKind = OperationKind,
> {
  readonly id: Id
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly tool: string | null
  /** The body as the tool list shows it. */
  readonly toolBody: Part
  readonly role: Role | PermissionScope
  readonly idempotency: Repeat
  /** The schema of the idempotency key; null if none is required. */
  readonly idempotencyKey: z.ZodString | null
  readonly kind: Kind
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly output: Output
  readonly statuses: Statuses
  /** Every error code that the operation may respond with, and its reasons. */
  readonly errors: Refusals
  readonly hints: Hints
  readonly bodyBytes: number
  readonly rate: RateClass
  readonly auditsReads: boolean
  readonly resumable: boolean
  readonly deliversOnceMs: number | null
  readonly media: MediaType
}

/** Declares an operation. */
export function operation<
  const Id extends string,
  Params extends Part,
  Query extends Part,
  Body extends Part,
  Output extends z.ZodType,
  const Statuses extends readonly [Status, ...Status[]],
  const Repeat extends Idempotency,
  const Kind extends OperationKind = 'transactional',
>(
  declared: Declaration<Id, Params, Query, Body, Output, Statuses, Repeat, Kind>,
): Operation<Id, Params, Query, Body, Output, Statuses, Repeat, Kind> {
  const { refusals, ...rest } = declared
  // Without `kind` in the declaration its type is the default of the type parameter.
  const kind = declared.kind ?? ('transactional' as Kind)
  const needsKey = declared.idempotency === 'required_header'
  return {
    ...rest,
    kind,
    tool: declared.tool === undefined ? declared.id.replace('.', '_') : declared.tool,
    toolBody: declared.toolBody ?? declared.body,
    idempotencyKey: needsKey ? (declared.idempotencyKey ?? ordinaryKey) : null,
    errors: merged(commonRefusals(declared, kind), refusals),
    hints: {
      readOnly: declared.method === 'GET',
      destructive: declared.method === 'DELETE',
      idempotent: !needsKey,
      ...declared.hints,
    },
    bodyBytes: declared.bodyBytes ?? MIB,
    rate: declared.rate ?? 'default',
    auditsReads: declared.auditsReads ?? false,
    resumable: declared.resumable ?? false,
    deliversOnceMs: declared.deliversOnceMs ?? null,
    media: declared.media ?? 'application/json',
  }
}

/** The lowest role that may call the operation, also if it declares a scope. */
export function minimumRole(of: Pick<Operation, 'role'>): Role {
  return of.role === 'tenant:read' || of.role === 'tenant:write' ? SCOPE_ROLE[of.role] : of.role
}

type Declared = Pick<Operation, 'params' | 'query' | 'body' | 'role' | 'idempotency'>

function commonRefusals(declared: Declared, kind: OperationKind): Refusals {
  const takesCursor = declared.query !== null && 'cursor' in declared.query.shape
  return {
    invalid_request: [
      ...(declared.body === null ? [] : (['body_too_large'] as const)),
      ...(takesCursor ? (['invalid_cursor'] as const) : []),
    ],
    unauthenticated: [],
    forbidden: minimumRole(declared) === 'viewer' ? [] : ['role'],
    ...(declared.params !== null && { not_found: [] }),
    ...(declared.idempotency === 'required_header' && { conflict: ['in_progress'], idempotency_conflict: [] }),
    rate_limited: ['request_rate'],
    internal: [],
    ...(kind === 'external' && { outcome_unknown: [] }),
  }
}

function merged(common: Refusals, own: Refusals): Refusals {
  const codes = ERROR_CODES.filter(code => code in common || code in own)
  return Object.fromEntries(codes.map(code => [code, [...(common[code] ?? []), ...(own[code] ?? [])]]))
}
