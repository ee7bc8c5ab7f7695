/** What is done with an address that a request may set. */
type AddressUse =
  /** Contacted through `@parley/egress`, by each of these files. */
  | { readonly egress: readonly string[] }
  /** Contacted by SIP, as a restricted hop that this file makes. */
  | { readonly restrictedHop: string }
  /** Never contacted; the sentence says why. */
  | { readonly never: string }

const HTTP_ACTION = ['packages/conversation/src/actions/http-action-call.ts']
const WEBHOOK = ['packages/jobs/src/webhooks/webhook-attempt.ts']
const ALERT = ['packages/jobs/src/alerts/alert-sender.ts']
const UNUSED_ENDPOINT = { never: 'It has no effect, and validation warns of that.' }

/** Every field in which a request may name a URL or a host, as `settableFields` names it, and what is done with it. */
export const ADDRESS_FIELDS: Readonly<Record<string, AddressUse>> = {
  'Action[http].url': { egress: HTTP_ACTION },
  'Settings.sms.url': { egress: HTTP_ACTION },
  'McpServer.url': { egress: ['packages/conversation/src/actions/mcp-fetch.ts'] },
  'Notification.url': { egress: WEBHOOK },
  'ImportConfig.webhook.url': { egress: WEBHOOK },
  'SpeechProvider.endpoint': UNUSED_ENDPOINT,
  'RecogniserProvider.endpoint': UNUSED_ENDPOINT,
  'LanguageModelProvider.endpoint': UNUSED_ENDPOINT,
  'DraftEdit[agent.provider/stt].changes.endpoint': UNUSED_ENDPOINT,
  'DraftEdit[agent.provider/llm].changes.endpoint': UNUSED_ENDPOINT,
  'DraftEdit[agent.provider/tts].changes.endpoint': UNUSED_ENDPOINT,
  'provider_keys.put.endpoint': {
    egress: ['packages/cli/src/provider-key-check.ts', 'packages/cli/src/environment-services.ts'],
  },
  'knowledge.documents_create.source_url': { never: 'It says where a document came from.' },
  'AlertDestinationValue[webhook].url': { egress: ALERT },
  'alert_destinations.update.chat.webhook_url': { egress: ALERT },
  'site_keys.create.origins': { never: 'They are compared with the Origin header of web calls.' },
  'trunks.create.termination_uri': { restrictedHop: 'packages/engine/src/runs/trunk-address.ts' },
  'trunks.update.termination_uri': { restrictedHop: 'packages/engine/src/runs/trunk-address.ts' },
}
