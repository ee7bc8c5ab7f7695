import type { OperationId, streams } from '../operations.ts'
import type { authOperations } from '../people/auth.ts'
import { agentExamples } from './agents.ts'
import { alertExamples } from './alerts.ts'
import { catalogueExamples } from './catalogue.ts'
import { knowledgeExamples } from './knowledge.ts'
import { runExamples } from './runs.ts'
import { sessionExamples } from './sessions.ts'
import { telephonyExamples } from './telephony.ts'
import { testRunExamples } from './test-runs.ts'
import { usageExamples } from './usage.ts'
import type { Example, Examples } from './values.ts'
import { workspaceExamples } from './workspace.ts'

type AuthId = (typeof authOperations)[keyof typeof authOperations]['id']
type ExampleId = OperationId | (typeof streams)[number]['id'] | AuthId

/** A request and its answer for each operation. The OpenAPI document shows them; the tests of the API send the requests. */
export const EXAMPLES = {
  ...workspaceExamples,
  ...sessionExamples,
  ...agentExamples,
  ...catalogueExamples,
  ...telephonyExamples,
  ...runExamples,
  ...testRunExamples,
  ...usageExamples,
  ...alertExamples,
  ...knowledgeExamples,
} as const satisfies { readonly [Id in ExampleId]: Example }

/** The example of an operation; undefined for an operation that is not one of the API's. */
export function exampleOf(id: string): Example | undefined {
  return (EXAMPLES as Examples)[id]
}
