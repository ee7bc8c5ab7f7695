import { type InputOf, type Issue, type Operation, operations, parseInput, type RawInput } from '@parley/contract'
import type { Inspection } from '@parley/flow'
import { requestHash } from '../pipeline/request-hash.ts'
import { type ImportReading, readImport, readInspection, type SecretVersions } from './import-reading.ts'
import { parseJson } from './parse-json.ts'

/** The operations whose bodies may be large enough for a worker thread. */
export type OffThreadOperationId = 'agents.import' | 'agents.import_inspect'

/** A request whose body a worker thread parses. */
export interface ReadTask {
  readonly operation: OffThreadOperationId
  /** The other parts of the request. */
  readonly raw: Omit<RawInput, 'body'>
  /** The body: JSON in UTF-8. */
  readonly bytes: Uint8Array
  readonly secrets: SecretVersions
}

/** The parsed body, for the handler. */
export type Reading =
  | { readonly kind: 'import'; readonly read: ImportReading }
  | { readonly kind: 'inspection'; readonly read: Inspection }

/** The outcome of a task. `agent` and `flow` of `input` are empty objects: `reading` has what they were parsed to. */
export type ReadOutcome =
  | { readonly state: 'misformed'; readonly issues: readonly Issue[] }
  | {
      readonly state: 'read'
      readonly input: InputOf<Operation>
      readonly idempotencyKey: string | null
      readonly requestHash: Uint8Array
      readonly reading: Reading
    }

/** Parses and validates the request as the main thread does with small bodies, and hashes it. Pure. */
export function readTask({ operation: id, raw, bytes, secrets }: ReadTask): ReadOutcome {
  const json = parseJson(new TextDecoder().decode(bytes))
  if (!json.ok) return { state: 'misformed', issues: [json.issue] }
  const body = json.value
  const operation = operations.find(candidate => candidate.id === id) as Operation
  const request = { ...raw, body }
  const parsed = parseInput(operation, request)
  if (!parsed.ok) return { state: 'misformed', issues: parsed.issues }
  const { input, idempotencyKey } = parsed
  const reading = readingOf(id, input, secrets)
  const slim = { ...(input.body as Record<string, unknown>), agent: {}, flow: {} }
  return {
    state: 'read',
    input: { ...input, body: slim } as InputOf<Operation>,
    idempotencyKey,
    requestHash: requestHash(request),
    reading,
  }
}

function readingOf(id: OffThreadOperationId, { body }: InputOf<Operation>, secrets: SecretVersions): Reading {
  if (id === 'agents.import')
    return { kind: 'import', read: readImport(body as Parameters<typeof readImport>[0], secrets) }
  return { kind: 'inspection', read: readInspection(body as Parameters<typeof readInspection>[0]) }
}
