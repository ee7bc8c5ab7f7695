import { text } from '@parley/nodes'
import type { z } from 'zod'
import { ERROR_CODES, type Refusals } from './errors.ts'
import type { Role } from './values/names.ts'

/** Permission scopes, which some operations name in place of a role. */
export const SCOPE_ROLE = { 'tenant:read': 'viewer', 'tenant:write': 'member' } as const satisfies Record<string, Role>
export type PermissionScope = keyof typeof SCOPE_ROLE

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `required_header`: the header Idempotency-Key must come; `natural`: repeating changes nothing more; `none`: neither. */
export type Idempotency = 'required_header' | 'natural' | 'none'

/**
 * `transactional`: idempotency record, change and audit in one transaction; `external`: something outside is asked
 * between two of them, so that an answer can be `outcome_unknown`.
 */
export type OperationKind = 'transactional' | 'external'

export type Status = 200 | 201 | 202

/** What a successful answer is: one JSON document, or server-sent events, each of which holds one. */
export type MediaType = 'application/json' | 'text/event-stream'

/** Which bucket of a key's rate limit a request takes from. */
export type RateClass = 'default' | 'costly'

export interface Hints {
  readonly readOnly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
}

export const MIB = 1_048_576

const ordinaryKey = text(1, 256)
/** 8 to 255 printable ASCII characters, no spaces. */
export const printableKey = text(8, 255).regex(/^[\x21-\x7e]*$/, 'printable ASCII without spaces')

type Part = z.ZodObject | null

/** What an operation declares; `operation` fills in what follows from it. */
interface Declaration<
  Id extends string,
  Params extends Part,
  Query extends Part,
  Body extends Part,
  Output extends z.ZodType,
  Statuses extends readonly [Status, ...Status[]],
  Repeat extends Idempotency,
> {
  /** Resource and verb: `agents.create`. Also the `action` of its audit items. */
  readonly id: Id
  readonly method: Method
  /** From `/api/v1` on; `{name}` is a member of `params`. */
  readonly path: string
  /** One line: what it does, to people and to models. */
  readonly summary: string
  readonly role: Role | PermissionScope
  readonly idempotency: Repeat
  readonly params: Params
  readonly query: Query
  /** A body all of whose members may be left out may itself be left out. */
  readonly body: Body
  readonly output: Output
  /** First the answer to a first execution, then that to a replay or to one that found nothing to do. */
  readonly statuses: Statuses
  /** Reasons of its own; what every operation may refuse is added. */
  readonly refusals: Refusals
  /** Default: transactional. */
  readonly kind?: OperationKind
  /** Default: the id with `_` in place of the dot. Null: no tool. */
  readonly tool?: string | null
  /** Default: any 1..256 characters. Only with `required_header`. */
  readonly idempotencyKey?: z.ZodString
  /** Default: what method and idempotency say. */
  readonly hints?: Partial<Hints>
  /** Bytes a body may have. Default 1 MiB. */
  readonly bodyBytes?: number
  /** Default: `default`. */
  readonly rate?: RateClass
  /** Whether reading it is audited, as every change is. Default false. */
  readonly auditsReads?: boolean
  /**
   * Whether a repetition with the same key, after an answer was lost or `outcome_unknown`, finds what came of the first
   * request and goes on with it. Only external ones. Default false.
   */
  readonly resumable?: boolean
  /** Default: JSON. `output` is the answer, or one event. */
  readonly media?: MediaType
}

/** One operation of the API as data: route, document, tool, client and handler type are derived from it. */
export interface Operation<
  Id extends string = string,
  Params extends Part = Part,
  Query extends Part = Part,
  Body extends Part = Part,
  Output extends z.ZodType = z.ZodType,
  Statuses extends readonly Status[] = readonly Status[],
  Repeat extends Idempotency = Idempotency,
> {
  readonly id: Id
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly tool: string | null
  readonly role: Role | PermissionScope
  readonly idempotency: Repeat
  /** What the key must look like; null where none is required. */
  readonly idempotencyKey: z.ZodString | null
  readonly kind: OperationKind
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly output: Output
  readonly statuses: Statuses
  /** Every code with which it may refuse, with its reasons. */
  readonly errors: Refusals
  readonly hints: Hints
  readonly bodyBytes: number
  readonly rate: RateClass
  readonly auditsReads: boolean
  readonly resumable: boolean
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
>(
  declared: Declaration<Id, Params, Query, Body, Output, Statuses, Repeat>,
): Operation<Id, Params, Query, Body, Output, Statuses, Repeat> {
  const { refusals, ...rest } = declared
  const kind = declared.kind ?? 'transactional'
  const needsKey = declared.idempotency === 'required_header'
  return {
    ...rest,
    kind,
    tool: declared.tool === undefined ? declared.id.replace('.', '_') : declared.tool,
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
    media: declared.media ?? 'application/json',
  }
}

/** The least role that may call it; scopes stand for roles. */
export function minimumRole(of: Pick<Operation, 'role'>): Role {
  return of.role === 'tenant:read' || of.role === 'tenant:write' ? SCOPE_ROLE[of.role] : of.role
}

type Asked = Pick<Operation, 'params' | 'query' | 'body' | 'role' | 'idempotency'>

function commonRefusals(asked: Asked, kind: OperationKind): Refusals {
  const takesCursor = asked.query !== null && 'cursor' in asked.query.shape
  return {
    invalid_request: [
      ...(asked.body === null ? [] : (['body_too_large'] as const)),
      ...(takesCursor ? (['invalid_cursor'] as const) : []),
    ],
    unauthenticated: [],
    forbidden: minimumRole(asked) === 'viewer' ? [] : ['role'],
    ...(asked.params !== null && { not_found: [] }),
    ...(asked.idempotency === 'required_header' && { conflict: ['in_progress'], idempotency_conflict: [] }),
    rate_limited: ['request_rate'],
    internal: [],
    ...(kind === 'external' && { outcome_unknown: [] }),
  }
}

function merged(common: Refusals, own: Refusals): Refusals {
  const codes = ERROR_CODES.filter(code => code in common || code in own)
  return Object.fromEntries(codes.map(code => [code, [...(common[code] ?? []), ...(own[code] ?? [])]]))
}
