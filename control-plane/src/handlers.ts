import type { Handlers } from './context.ts'
import { agentHandlers } from './handlers/agents.ts'
import { alertHandlers } from './handlers/alerts.ts'
import { auditHandlers } from './handlers/audit.ts'
import { callLimitHandlers } from './handlers/call-limit.ts'
import { catalogueHandlers } from './handlers/catalogue.ts'
import { draftHandlers } from './handlers/drafts.ts'
import { environmentHandlers } from './handlers/environments.ts'
import { exchangeHandlers } from './handlers/exchange.ts'
import { keyHandlers } from './handlers/keys.ts'
import { knowledgeHandlers } from './handlers/knowledge.ts'
import { listenerHandlers } from './handlers/listeners.ts'
import { numberHandlers } from './handlers/numbers.ts'
import { providerKeyHandlers } from './handlers/provider-keys.ts'
import { publicationHandlers } from './handlers/publications.ts'
import { replayHandlers } from './handlers/replay.ts'
import { runHandlers } from './handlers/runs.ts'
import { runContentHandlers } from './handlers/runs-content.ts'
import { createRunHandler } from './handlers/runs-create.ts'
import { messageHandler } from './handlers/runs-message.ts'
import { secretHandlers } from './handlers/secrets.ts'
import { siteKeyHandlers } from './handlers/site-keys.ts'
import { teamHandlers } from './handlers/team.ts'
import { tenantSettingsHandlers } from './handlers/tenant-settings.ts'
import { testRunHandlers } from './handlers/test-runs.ts'
import { testSuiteHandlers } from './handlers/test-suites.ts'
import { trunkHandlers } from './handlers/trunks.ts'
import { usageHandlers } from './handlers/usage.ts'
import { voicePreviewHandlers } from './handlers/voice-preview.ts'

/** The handler of every operation of the API, by operation id. */
export const handlers: Handlers = {
  ...environmentHandlers,
  ...keyHandlers,
  ...siteKeyHandlers,
  ...secretHandlers,
  ...teamHandlers,
  ...providerKeyHandlers,
  ...tenantSettingsHandlers,
  ...auditHandlers,
  ...agentHandlers,
  ...exchangeHandlers,
  ...draftHandlers,
  ...publicationHandlers,
  ...catalogueHandlers,
  ...voicePreviewHandlers,
  ...trunkHandlers,
  ...numberHandlers,
  ...callLimitHandlers,
  ...runHandlers,
  ...createRunHandler,
  ...messageHandler,
  ...listenerHandlers,
  ...runContentHandlers,
  ...replayHandlers,
  ...testSuiteHandlers,
  ...testRunHandlers,
  ...usageHandlers,
  ...alertHandlers,
  ...knowledgeHandlers,
}
