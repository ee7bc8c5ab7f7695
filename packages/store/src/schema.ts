import type { Diagnostic, draftContent, ownKeyProvider, Plan } from '@parley/contract'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { z } from 'zod'
import type { KnowledgeDocumentsTable } from './knowledge/schema-knowledge.ts'
import type { InvitationsTable, LoginLinksTable, MembersTable, SessionsTable } from './people/schema.ts'
import type { ReleaseGatesTable } from './release/schema-gates.ts'
import type {
  BudgetsTable,
  EnginesTable,
  OutboxTable,
  RateCardsTable,
  RunCountersTable,
  RunEffectsTable,
  RunEventsTable,
  RunOwnershipTable,
  RunRecordingsTable,
  RunsTable,
  RunTranscriptsTable,
  RunUpdatesTable,
  SpendMonthsTable,
  UsageMeasurementsTable,
} from './schema-runs.ts'
import type { TestRunCasesTable, TestRunsTable, TestSuitesTable, TestTrialsTable } from './schema-tests.ts'
import type { StoredPrincipal } from './stored-principal.ts'
import type { TrunkDetails } from './telephony/trunk-details.ts'

/** ISO time in UTC with milliseconds, as in the API; every query returns `timestamptz` in this form. */
type Instant = string
type Made<Value> = Generated<Value>
/** Written as JSON text, read parsed. */
type JsonColumn<Value> = ColumnType<Value, string, string>

export type DraftContent = z.output<typeof draftContent>

interface OfTenant {
  tenant_id: Made<string>
}

interface OrganisationsTable {
  owner_id: Made<string>
  name: string
  created_at: Made<Instant>
}

export interface Destinations {
  readonly countries: readonly string[]
  readonly allow_prefixes: readonly string[]
}

interface TenantsTable {
  tenant_id: Made<string>
  owner_id: string
  environment: 'production' | 'sandbox'
  name: string
  display_name: string | null
  admission_enabled: Made<boolean>
  concurrent_capacity: number | null
  daily_call_limit: number | null
  rate_per_second: number | null
  rate_burst: number | null
  destinations: ColumnType<Destinations | null, string | null, string | null>
  recording_days: Made<number>
  transcript_days: Made<number>
  document_days: number | null
  retention_version: Made<number>
  listening_enabled: Made<boolean>
  created_at: Made<Instant>
}

interface ApiKeysTable extends OfTenant {
  key_id: Made<string>
  name: string
  role: 'viewer' | 'member' | 'admin'
  can_dial: Made<boolean>
  prefix: string
  secret_hash: Buffer
  previous_hash: Buffer | null
  previous_until: Instant | null
  created_at: Made<Instant>
  last_used_at: Instant | null
  expires_at: Instant | null
  revoked_at: Instant | null
}

export type SecretKind = 'sip_auth' | 'http_auth' | 'webhook_signing' | 'provider_credential'

interface SecretsTable extends OfTenant {
  secret_id: string
  kind: SecretKind
  version: number
  created_at: Made<Instant>
  updated_at: Made<Instant>
  deleted_at: Instant | null
}

interface SecretVersionsTable extends OfTenant {
  secret_id: string
  version: number
  sealed: Buffer
  created_at: Made<Instant>
}

export type Channel = 'cloud' | 'phone'

interface AgentsTable extends OfTenant {
  agent_id: string
  name: string
  /** The name in lower case, by which lists are sorted. */
  sort_name: GeneratedAlways<string>
  created_at: Made<Instant>
  updated_at: Made<Instant>
  archived_at: Instant | null
  head_version: number | null
  head_channels: Made<Channel[]>
  next_version: Made<number>
}

interface DraftsTable extends OfTenant {
  draft_id: Made<string>
  agent_id: string
  revision: Made<number>
  base_version: number | null
  published_revision: number | null
  content: JsonColumn<DraftContent>
  imported_revision: number | null
  import_digest: string | null
  updated_at: Made<Instant>
}

export interface PublicationsTable extends OfTenant {
  agent_id: string
  version: number
  digest: string
  plan_schema_version: number
  channels: Channel[]
  languages: ('en' | 'es')[]
  source_kind: 'studio' | 'agent_import' | 'api'
  published_at: Made<Instant>
  published_by: JsonColumn<StoredPrincipal>
  test: boolean
  draft_id: string
  draft_revision: number
  plan: JsonColumn<Plan>
  draft: JsonColumn<DraftContent>
  warnings: JsonColumn<Diagnostic[]>
}

export interface TrunksTable extends OfTenant {
  trunk_id: string
  name: string
  provider: 'carrier_elastic_sip' | 'generic_sip'
  termination_uri: string
  auth_username: string | null
  auth_secret_id: string | null
  auth_secret_version: string | null
  inbound: boolean
  inbound_token: string | null
  details: ColumnType<TrunkDetails, string | undefined, string>
  created_at: Made<Instant>
  updated_at: Made<Instant>
}

interface NumbersTable extends OfTenant {
  number_id: Made<string>
  phone_number: string
  trunk_id: string
  name: string | null
  agent_id: string | null
  version: number | null
  confirmed_at: Instant | null
  created_at: Made<Instant>
  updated_at: Made<Instant>
}

export type OwnKeyProvider = z.output<typeof ownKeyProvider>

interface ProviderKeysTable extends OfTenant {
  provider: OwnKeyProvider
  sealed: Buffer
  last4: string
  endpoint: string | null
  models: string[]
  checked_at: Instant
  created_at: Made<Instant>
  updated_at: Made<Instant>
}

interface SiteKeysTable extends OfTenant {
  site_key_id: Made<string>
  name: string
  agent_id: string
  origins: string[]
  concurrent_limit: number
  daily_limit: number
  prefix: string
  secret_hash: Buffer
  created_at: Made<Instant>
  revoked_at: Instant | null
}

export interface TombstonesTable extends OfTenant {
  kind: 'secret' | 'trunk' | 'number' | 'draft' | 'provider_key' | 'test_suite' | 'document'
  id: string
  answer: JsonColumn<Readonly<Record<string, unknown>>>
  deleted_at: Made<Instant>
}

interface CallMinutesTable extends OfTenant {
  minute: Instant
  calls: number
}

interface IdempotencyTable extends OfTenant {
  principal: string
  operation: string
  key: string
  request_hash: Buffer
  status: number | null
  answer: Buffer | null
  lease_until: Instant | null
  intent: ColumnType<Readonly<Record<string, unknown>> | null, string | null, string | null>
  created_at: Made<Instant>
}

interface AuditTable extends OfTenant {
  audit_id: Made<string>
  occurred_at: Made<Instant>
  principal: JsonColumn<StoredPrincipal>
  action: string
  resource_kind: string | null
  resource_id: string | null
  outcome: 'allowed' | 'denied' | 'failed'
  request_id: string | null
}

interface LeasesTable {
  name: string
  owner: string | null
  fence: ColumnType<string, never, never>
  expires_at: Instant
}

/** Every table of the database (schema `parley`), as queries see it. */
export interface Schema {
  organisations: OrganisationsTable
  tenants: TenantsTable
  api_keys: ApiKeysTable
  secrets: SecretsTable
  secret_versions: SecretVersionsTable
  agents: AgentsTable
  drafts: DraftsTable
  publications: PublicationsTable
  trunks: TrunksTable
  numbers: NumbersTable
  provider_keys: ProviderKeysTable
  site_keys: SiteKeysTable
  tombstones: TombstonesTable
  call_minutes: CallMinutesTable
  idempotency: IdempotencyTable
  audit: AuditTable
  members: MembersTable
  invitations: InvitationsTable
  login_links: LoginLinksTable
  sessions: SessionsTable
  leases: LeasesTable
  engines: EnginesTable
  rate_cards: RateCardsTable
  budgets: BudgetsTable
  run_counters: RunCountersTable
  spend_months: SpendMonthsTable
  runs: RunsTable
  run_ownership: RunOwnershipTable
  run_events: RunEventsTable
  run_effects: RunEffectsTable
  run_updates: RunUpdatesTable
  run_transcripts: RunTranscriptsTable
  run_recordings: RunRecordingsTable
  usage_measurements: UsageMeasurementsTable
  outbox: OutboxTable
  test_suites: TestSuitesTable
  knowledge_documents: KnowledgeDocumentsTable
  test_runs: TestRunsTable
  test_run_cases: TestRunCasesTable
  test_trials: TestTrialsTable
  release_gates: ReleaseGatesTable
}
