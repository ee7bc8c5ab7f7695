import { agentOperations } from './agents/agents.ts'
import { exchangeOperations } from './agents/import.ts'
import { actionCatalogueOperations } from './catalogue/actions.ts'
import { modelOperations } from './catalogue/models.ts'
import { voiceOperations } from './catalogue/voices.ts'
import { draftOperations } from './drafts/drafts.ts'
import { knowledgeOperations } from './knowledge/knowledge.ts'
import { teamOperations } from './people/team.ts'
import { publicationOperations } from './publications/publications.ts'
import { listenerOperations } from './runs/listeners.ts'
import { replayOperations } from './runs/replay.ts'
import { runContentOperations, runEvents } from './runs/run-content.ts'
import { runOperations } from './runs/runs.ts'
import { callLimitOperations } from './telephony/call-limit.ts'
import { numberOperations } from './telephony/numbers.ts'
import { trunkOperations } from './telephony/trunks.ts'
import { testRunOperations } from './test-runs/test-runs.ts'
import { testSuiteOperations } from './test-suites/test-suites.ts'
import { alertDestinationOperations } from './usage/alert-destinations.ts'
import { alertOperations } from './usage/alerts.ts'
import { budgetOperations } from './usage/budget.ts'
import { usageOperations } from './usage/usage.ts'
import { auditOperations } from './workspace/audit.ts'
import { environmentOperations } from './workspace/environments.ts'
import { keyOperations } from './workspace/keys.ts'
import { providerKeyOperations } from './workspace/provider-keys.ts'
import { secretOperations } from './workspace/secrets.ts'
import { siteKeyOperations } from './workspace/site-keys.ts'
import { tenantSettingsOperations } from './workspace/tenant-settings.ts'

/** Every operation of the API. A resource lists its own; a new resource adds a line here. */
export const operations = [
  ...environmentOperations,
  ...keyOperations,
  ...siteKeyOperations,
  ...secretOperations,
  ...teamOperations,
  ...providerKeyOperations,
  ...tenantSettingsOperations,
  ...auditOperations,
  ...agentOperations,
  ...exchangeOperations,
  ...draftOperations,
  ...publicationOperations,
  ...actionCatalogueOperations,
  ...modelOperations,
  ...voiceOperations,
  ...trunkOperations,
  ...numberOperations,
  ...callLimitOperations,
  ...runOperations,
  ...listenerOperations,
  ...runContentOperations,
  ...replayOperations,
  ...testSuiteOperations,
  ...testRunOperations,
  ...usageOperations,
  ...budgetOperations,
  ...alertOperations,
  ...alertDestinationOperations,
  ...knowledgeOperations,
] as const

/** Operations with an event stream as response: available over HTTP only, not as tools. */
export const streams = [runEvents] as const

type AnyOperation = (typeof operations)[number]

export type OperationId = AnyOperation['id']

/** The type of the operation with this id. */
export type OperationNamed<Id extends OperationId> = Extract<AnyOperation, { readonly id: Id }>
