import { type FieldCases, mismatches, type Variation, variations } from '@parley/nodes/testing'
import { parseInput, type RawInput } from '../derived/parse-input.ts'
import type { Operation } from '../operation.ts'
import { operations } from '../operations.ts'

const VALID_PARAMS: Readonly<Record<string, unknown>> = {
  agent_id: 'agent_1',
  version: 0,
  key_id: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
  secret_id: 'sip-password',
  trunk_id: 'trunk-1',
  number_id: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
  alert_id: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
  run_id: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
}

export function operationOf(id: string): Operation {
  const found = operations.find(operation => operation.id === id)
  if (found === undefined) throw new Error(`the contract has no operation "${id}"`)
  return found
}

/** Whether the operation accepts `raw`, to which valid path parameters and a valid idempotency key are added. */
export function isAccepted(id: string, raw: RawInput): boolean {
  const operation = operationOf(id)
  const params = Object.fromEntries(Object.keys(operation.params?.shape ?? {}).map(name => [name, VALID_PARAMS[name]]))
  const key = operation.idempotencyKey === null ? {} : { idempotencyKey: 'key-00000001' }
  return parseInput(operation, { ...(operation.params !== null && { params }), ...key, ...raw }).ok
}

interface RequestCases {
  readonly id: string
  readonly part: 'params' | 'query' | 'body'
  readonly variations: readonly Variation[]
}

/** Variations of one part of a request to the operation. */
export function requestCases(
  id: string,
  part: RequestCases['part'],
  valid: Record<string, unknown>,
  fields: Readonly<Record<string, FieldCases>>,
): RequestCases {
  return { id, part, variations: variations(valid, fields) }
}

/** The variations that the operation wrongly accepts or wrongly refuses. */
export function requestMismatches({ id, part, variations }: RequestCases): string[] {
  return mismatches(variations, value => isAccepted(id, { [part]: value }))
}
