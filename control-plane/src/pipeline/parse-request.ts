import {
  type InputOf,
  type Issue,
  type Operation,
  parseInput,
  type RawInput,
  Refusal,
  type Scope,
} from '@parley/contract'
import type { Database } from '@parley/store'
import { LargeBody } from '../reading/large-body.ts'
import type { OffThreadOperationId, Reading } from '../reading/read-task.ts'
import type { ReadingThreads } from '../reading/reading-threads.ts'
import { requestHash } from './request-hash.ts'
import type { Route } from './route.ts'

/** A request whose parts match the operation's schemas. */
export interface ParsedRequest {
  readonly input: InputOf<Operation>
  readonly idempotencyKey: string | null
  /** Identifies repetitions: see `requestHash`. */
  readonly requestHash: () => Buffer
  /** The body as a worker thread parsed it; undefined when `input` contains the whole body. */
  readonly reading: Reading | undefined
}

interface ParseDependencies {
  readonly database: Pick<Database, 'within'>
  readonly threads: ReadingThreads
}

/**
 * Parses a request, on a worker thread when its body is large. Throws the refusal of an invalid request, and what
 * `ReadingThreads` rejects with.
 */
export async function parseRequest(
  { operation, readingNeeds }: Route,
  raw: RawInput,
  scope: Scope,
  { database, threads }: ParseDependencies,
): Promise<ParsedRequest> {
  const { body, ...others } = raw
  if (!(body instanceof LargeBody) || readingNeeds === null) {
    const parsed = parseInput<Operation>(operation, raw)
    if (!parsed.ok) throw invalidRequest(parsed.issues)
    const { input, idempotencyKey } = parsed
    return { input, idempotencyKey, requestHash: () => requestHash(raw), reading: undefined }
  }
  // No connection is held while the body is read.
  const { secrets } = await readingNeeds(database.within(scope), scope)
  const id = operation.id as OffThreadOperationId
  const outcome = await threads.read(scope.tenant_id, { operation: id, raw: others, bytes: body.bytes, secrets })
  if (outcome.state === 'misformed') throw invalidRequest(outcome.issues)
  const { input, idempotencyKey, reading } = outcome
  return { input, idempotencyKey, requestHash: () => Buffer.from(outcome.requestHash), reading }
}

/** The refusal of a request with these faults. */
export function invalidRequest(issues: readonly Issue[]): Refusal {
  const details = { issues: issues.map(({ path, message }) => ({ path, message })) }
  return new Refusal('invalid_request', 'the request is not valid: see details.issues', { details })
}
