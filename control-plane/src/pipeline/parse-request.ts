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

/** A request in the operation's terms. */
export interface Heard {
  readonly input: InputOf<Operation>
  readonly idempotencyKey: string | null
  /** By which it is the same as another one. */
  readonly requestHash: () => Buffer
  /** What a thread has read in the body; undefined where the input is whole. */
  readonly reading: Reading | undefined
}

interface Hearing {
  readonly database: Pick<Database, 'within'>
  readonly threads: ReadingThreads
}

/**
 * Parses what was sent: here, or on a thread where the body is large. Throws the refusal of what the operation does not
 * take, and what `ReadingThreads` rejects with.
 */
export async function parseRequest(
  { operation, readingNeeds }: Route,
  raw: RawInput,
  scope: Scope,
  { database, threads }: Hearing,
): Promise<Heard> {
  const { body, ...others } = raw
  if (!(body instanceof LargeBody) || readingNeeds === null) {
    const parsed = parseInput<Operation>(operation, raw)
    if (!parsed.ok) throw misformed(parsed.issues)
    const { input, idempotencyKey } = parsed
    return { input, idempotencyKey, requestHash: () => requestHash(raw), reading: undefined }
  }
  // No connection is held while the body is read.
  const { secrets } = await readingNeeds(database.within(scope), scope)
  const id = operation.id as OffThreadOperationId
  const outcome = await threads.read(scope.tenant_id, { operation: id, raw: others, bytes: body.bytes, secrets })
  if (outcome.state === 'no_json') throw notJson()
  if (outcome.state === 'misformed') throw misformed(outcome.issues)
  const { input, idempotencyKey, reading } = outcome
  return { input, idempotencyKey, requestHash: () => Buffer.from(outcome.requestHash), reading }
}

function misformed(issues: readonly Issue[]): Refusal {
  const details = { issues: issues.map(({ path, message }) => ({ path, message })) }
  return new Refusal('invalid_request', 'the request is not as it should be', { details })
}

/** The parser's message quotes the body, which may hold secrets. */
export function notJson(): Refusal {
  const issues = [{ path: '', message: 'body: not JSON' }]
  return new Refusal('invalid_request', 'the body is not JSON', { details: { issues } })
}
