import { type Operation, type OperationId, operations } from '@parley/contract'
import { toText } from '@parley/contract/testing'
import {
  brokenValues,
  type RequestParts,
  SchemaValues,
  VALID_REQUESTS,
  type WholeApi,
} from '@parley/control-plane/testing'
import { randomBelow, SeededRandom } from '@parley/kernel'
import type { z } from 'zod'
import type { Trial } from './answer-faults.ts'
import { KnownResources } from './known-resources.ts'
import { MUTATIONS } from './odd-requests.ts'
import type { RawRequest } from './raw-http.ts'

const PARTS = ['params', 'query', 'body'] as const
type Part = (typeof PARTS)[number]
const MUTATION_NAMES = Object.keys(MUTATIONS)
/** Share of each kind of request in percent; the rest are mutated ones. */
const SHARES = { valid: 8, sampled: 40, broken: 20, 'of another principal': 4 }

/** Makes requests to every operation in turn: valid, generated from the schema, broken in one place, from another principal, or mutated. */
export class RequestMaker {
  readonly #api: WholeApi
  readonly #random: SeededRandom
  readonly #known: KnownResources
  readonly #values = new Map<string, SchemaValues>()
  #made = 0
  #keys = 0

  constructor(api: WholeApi, seed: number) {
    this.#api = api
    this.#random = new SeededRandom(seed)
    this.#known = new KnownResources(api.world)
    const pick = (name: string) => this.#known.pick(name, this.#random)
    for (const operation of operations)
      for (const part of PARTS) {
        const schema: z.ZodType | null = operation[part]
        if (schema !== null) this.#values.set(keyOf(operation, part), new SchemaValues(schema, this.#random, pick))
      }
  }

  /** Creates resources that requests can refer to. */
  grow(): Promise<void> {
    return this.#known.grow()
  }

  /** The next request. The first one to each operation is valid and must be answered 2xx. */
  async next(): Promise<Trial> {
    const index = this.#made++
    const operation: Operation = operations[index % operations.length]!
    if (index < operations.length) return this.#valid(operation)
    const at = this.#below(100)
    if (at < SHARES.valid) return this.#valid(operation)
    const sampled = this.#sampled(operation)
    if (at < SHARES.valid + SHARES.sampled) return this.#trial('sampled', operation, sampled)
    if (at < SHARES.valid + SHARES.sampled + SHARES.broken) return this.#broken(operation, sampled)
    const trial = this.#trial('of another principal', operation, sampled)
    if (at < SHARES.valid + SHARES.sampled + SHARES.broken + SHARES['of another principal'])
      return { ...trial, request: this.#byAnotherPrincipal(trial.request) }
    const kind = MUTATION_NAMES[this.#below(MUTATION_NAMES.length)]!
    const random = new SeededRandom(this.#below(2 ** 31))
    const request = MUTATIONS[kind]!(trial.request, random)
    return { kind, operation: routedOperation(operation, request), request }
  }

  /** Random bytes, some of which begin like HTTP. */
  randomBytes(): Uint8Array {
    const starts = [
      '',
      'GET ',
      'GET / HTTP/1.1\r\n',
      'POST /api/v1/agents HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n',
    ]
    const start = Buffer.from(starts[this.#below(starts.length)]!)
    return Buffer.concat([start, this.#random.bytes(1 + this.#below(300)), Buffer.from('\r\n\r\n')])
  }

  async #valid(operation: Operation): Promise<Trial> {
    try {
      const parts = await VALID_REQUESTS[operation.id as OperationId](this.#api.world)
      return this.#trial('valid', operation, parts)
    } catch (error) {
      // An earlier random request changed the settings of the environment, so that the resource cannot be made.
      if (!String(error).includes('"policy_denied"')) throw error
      return this.#trial('sampled', operation, this.#sampled(operation))
    }
  }

  #sampled(operation: Operation): RequestParts {
    const of = (part: Part) => this.#values.get(keyOf(operation, part))?.sample()
    const [params, query, body] = [of('params'), of('query'), of('body')]
    return { ...(params !== undefined && { params }), ...(query !== undefined && { query }), body } as RequestParts
  }

  #broken(operation: Operation, parts: RequestParts): Trial {
    const part = operation.body !== null ? 'body' : 'query'
    const values = this.#values.get(keyOf(operation, part))
    const all = values === undefined ? [] : [...brokenValues(values, parts[part] ?? {})]
    if (all.length === 0) return this.#trial('sampled', operation, parts)
    const { value, how } = all[this.#below(all.length)]!
    const isText = part === 'query' && (typeof value !== 'object' || value === null)
    return this.#trial(`broken: ${how}`, operation, { ...parts, [part]: isText ? {} : value })
  }

  #byAnotherPrincipal(request: RawRequest): RawRequest {
    const { viewer, member, sandboxAdmin } = this.#api.keys
    const keys = [viewer, member, sandboxAdmin, `parley_live_${'x'.repeat(40)}`, null]
    const key = keys[this.#below(keys.length)]
    const { authorization: _, ...rest } = request.headers
    return { ...request, headers: key == null ? rest : { ...rest, authorization: `Bearer ${key}` } }
  }

  #trial(kind: string, operation: Operation, { params = {}, query = {}, body }: RequestParts): Trial {
    const path = operation.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) =>
      // A URL cannot contain a lone surrogate.
      encodeURIComponent(String(params[name]).toWellFormed()),
    )
    const search = new URLSearchParams(toText(query)).toString()
    const keyed = operation.idempotency === 'required_header'
    const request: RawRequest = {
      method: operation.method,
      target: search === '' ? path : `${path}?${search}`,
      headers: {
        authorization: `Bearer ${this.#api.keys.admin}`,
        ...(keyed && { 'idempotency-key': kind === 'valid' ? this.#newKey() : this.#idempotencyKey() }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    }
    return { kind, operation, request }
  }

  /** Mostly a new key, sometimes one that was sent before, usually with another request. */
  #idempotencyKey(): string {
    return this.#keys > 0 && this.#below(20) === 0 ? keyOfNumber(this.#below(this.#keys)) : this.#newKey()
  }

  #newKey(): string {
    return keyOfNumber(this.#keys++)
  }

  #below(limit: number): number {
    return randomBelow(this.#random, limit)
  }
}

/** At least 8 characters, as an Idempotency-Key must have. */
function keyOfNumber(number: number): string {
  return `proof-${String(number).padStart(6, '0')}`
}

function keyOf(operation: Operation, part: Part): string {
  return `${operation.id} ${part}`
}

/** The operation that a request is routed to, which may differ from the one it was made for. */
function routedOperation(operation: Operation, { method, target }: RawRequest): Operation | null {
  const path = target.split('?', 1)[0]!
  const all: readonly Operation[] = operations
  const matching = all.filter(candidate => candidate.method === method && pattern(candidate).test(path))
  return (
    matching.find(candidate => !candidate.path.includes('{')) ??
    matching.find(({ id }) => id === operation.id) ??
    matching[0] ??
    null
  )
}

function pattern({ path }: Operation): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`)
}
