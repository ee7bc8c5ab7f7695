export {
  type AgentFilter,
  type AgentRow,
  archiveAgent,
  insertAgent,
  type LockedAgent,
  listAgents,
  lockAgent,
  readAgent,
  renameUnpublished,
} from './agents.ts'
export {
  insertKey,
  type KeyRow,
  type KeySecret,
  keyExists,
  keyHash,
  listKeys,
  type NewKey,
  newKeySecret,
  replaceKeySecret,
  revokeKey,
} from './api-keys.ts'
export { type AuditEntry, type AuditFilter, type AuditRow, listAudit, writeAudit } from './audit.ts'
export { type BlobPlace, parseBlobUrl } from './blobs/blob-url.ts'
export type { BlobContent, BlobEntry, Blobs, ByteRange } from './blobs/blobs.ts'
export { readRecordingKey, recordingKey, recordingPrefix, segmentKey } from './blobs/recording-keys.ts'
export { type CallLimitRow, readCallLimit, writeCallLimit } from './call-limit.ts'
export {
  type DraftHead,
  type DraftJson,
  type DraftOrigin,
  type DraftRevision,
  deleteDraft,
  type ImportedHead,
  type ImportMark,
  insertDraft,
  type OpenDraft,
  readDraftHead,
  readOpenDraft,
  writeDraft,
} from './drafts.ts'
export { ENVIRONMENT_LIMITS } from './environment-limits.ts'
export { type EnvironmentReferences, referenceTargets } from './environment-references.ts'
export {
  type Claim,
  claim,
  dropIntent,
  type IdempotentRequest,
  type IntentLease,
  type KeptAnswer,
  keepAnswer,
  keepIntent,
  settleIntent,
} from './idempotency.ts'
export { type FileBlobsOptions, openFileBlobs } from './io/blob-files.ts'
export { type PostgresBusOptions, postgresBus } from './io/bus-postgres.ts'
export { type RedisBusOptions, redisBus } from './io/bus-redis.ts'
export { type DatabaseOptions, openDatabase } from './io/database.ts'
export {
  attachEmbeddedPostgres,
  type EmbeddedOptions,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from './io/embedded-postgres.ts'
export { isAlive, markOf, type ProcessMark } from './io/embedded-record.ts'
export { checkMasterKey, rotateMasterKey } from './io/master-key-rotation.ts'
export { type Migration, migrate } from './io/migrate.ts'
export { openBlobs } from './io/open-blobs.ts'
export {
  formatMasterKey,
  loadMasterKey,
  type MasterKey,
  MasterKeySealer,
  parseMasterKey,
  withNewKey,
} from './io/sealer.ts'
export type { PoolLimits } from './io/tenant-pool.ts'
export {
  type AnalysisInference,
  type AnalysisResult,
  nextAnalysisDueInMs,
  settleAnalysis,
  takeAnalyses,
} from './jobs/analyses.ts'
export type { DueAnalysis, DueWork, JobsAcrossTenants, LostRun, ReapOptions } from './jobs/protocol.ts'
export {
  type CursorBinding,
  cutPage,
  decodeCursor,
  encodeCursor,
  isAfter,
  type KeysetColumn,
  type KeysetPosition,
  type KeysetType,
  type Page,
  readPage,
} from './keyset.ts'
export { holdsLease } from './leases.ts'
export {
  type AnsweringAgent,
  deleteNumber,
  heldAgent,
  insertNumber,
  listNumbers,
  type NumberFilter,
  type NumberRow,
  numberOf,
  publishedVersion,
  writeAssignment,
} from './numbers.ts'
export type { Bus, Database, KeyHolder, Lease, Leases, Queries, Sealer, Topic } from './protocol.ts'
export {
  insertPublication,
  listPublications,
  moveHead,
  type NewPublication,
  type PlannedPublication,
  type PublicationRow,
  type PublishedDraft,
  type PublishedRevision,
  publicationOfRevision,
  readPublication,
  readPublicationRow,
  readPublishedDraft,
  readWholePublication,
  type WholePublication,
} from './publications.ts'
export {
  type Admission,
  type AdmissionOptions,
  type AdmissionRefusal,
  admitRun,
  countTransfer,
  type RunRequest,
} from './runs/admission.ts'
export { type BudgetRow, type BudgetWrite, readBudget, writeBudget } from './runs/budget.ts'
export { forgetBlobs } from './runs/contents.ts'
export { type DialFacts, dialFacts } from './runs/dial-facts.ts'
export { type EffectIntention, type LedgerRecord, type RunLedger, runLedger } from './runs/effect-ledger.ts'
export {
  type EffectRow,
  type EffectSettlement,
  type EffectWriter,
  type InferenceEffect,
  intendEffect,
  listEffects,
  type NewEffect,
  recordInference,
  type StoredDecision,
  sendEffect,
  settleEffect,
} from './runs/effects.ts'
export { appendEvents, type EventRow, eventsAfter, type Gap, listEvents, type NewEvent } from './runs/events.ts'
export {
  addUsage,
  cancelRun,
  cancelRunsOfKey,
  type Finish,
  finishRun,
  finishUnowned,
  type LastWords,
  type Measurement,
  type RunEnding,
  type TerminalState,
  writeAnalysis,
} from './runs/finish.ts'
export {
  answerMessage,
  type MessageAnswer,
  type MessageMove,
  nextMessage,
  postMessage,
  type RunMessage,
  readMessage,
  refuseMessages,
  takeMessage,
} from './runs/messages.ts'
export {
  announce,
  announceAnalysis,
  nextWebhookDueInMs,
  type OwnerEvent,
  type SendResult,
  settleSend,
  takeWebhooks,
} from './runs/outbox.ts'
export {
  type ClaimedRun,
  claimRun,
  holdsRun,
  moveRun,
  RUN_LEASE_MS,
  type RunMove,
  releaseRun,
  storeDial,
  storeDialog,
} from './runs/ownership.ts'
export type {
  ContentsAcrossTenants,
  EngineRow,
  Engines,
  OutboxItem,
  ReapedRun,
  RenewedRun,
  RunOfTenant,
  RunOwner,
  RunOwnership,
  RunsAcrossTenants,
  WaitingRun,
} from './runs/protocol.ts'
export { installRateCard, type RateCard, readRateCard } from './runs/rate-cards.ts'
export { endJoin, keepJoined, type RecordingJoin, renewJoin, takeJoin } from './runs/recording-joins.ts'
export {
  addSegment,
  awaitRecording,
  closeRecording,
  isStillWithOwner,
  moveRecording,
  openRecording,
  type RecordingRow,
  readRecording,
} from './runs/recordings.ts'
export { listRuns, type RunFilter, type RunRow, readRun } from './runs/runs.ts'
export { type StartingRun, startingRun } from './runs/starting-run.ts'
export { type NewTranscript, readTranscript, type TranscriptRow, writeCheckpoint } from './runs/transcripts.ts'
export { CALLS_PER_SECOND, type CallSlot, takeCallSlot } from './runs/trunk-rate.ts'
export {
  acknowledgeUpdate,
  type PendingUpdate,
  pendingUpdates,
  type RunChange,
  readUpdate,
  settleUpdate,
  type UpdateReceipt,
} from './runs/updates.ts'
export { summariseUsage, type UsageFilter, type UsagePage, type UsageRow } from './runs/usage.ts'
export type { Destinations, DraftContent, PlanContent, Schema, SecretKind, TrunkDetails } from './schema.ts'
export type {
  JsonObject,
  Meter,
  PhoneState,
  RecordingState,
  RunChannel,
  RunContact,
  RunKind,
  RunMode,
  RunState,
  StoredRate,
  UpdateStatus,
} from './schema-runs.ts'
export { readSecretValues, type SecretValues } from './secret-values.ts'
export {
  deleteSecret,
  holdPinnedSecret,
  listSecrets,
  type PinnedSecret,
  putSecret,
  type SecretRow,
  secretSealContext,
} from './secrets.ts'
export {
  createOrganisation,
  createStaffKey,
  listOrganisations,
  noteMasterKeyRotation,
  readEnvironment,
  type StaffEnvironment,
  type StaffOrganisation,
  type StaffSetting,
  setEnvironment,
  setTrunkDetails,
  staffScope,
  type TrunkChanges,
  type TrunkDetails,
} from './staff.ts'
export { asStaff } from './staff-connection.ts'
export { type DialableTrunk, dialableTrunk } from './telephony/dialable-trunk.ts'
export { type AnsweredNumber, numberReached, type UnansweredNumber } from './telephony/number-reached.ts'
export type { InboundTrunk, ReachableTrunk, TelephonyAcrossTenants } from './telephony/protocol.ts'
export { type Retention, type TenantSettingsRow, tenantSettings, writeTenantSettings } from './tenant-settings.ts'
export { concurrentCapacity, type EnvironmentRow, environmentsOf, makeSandbox } from './tenants.ts'
export { dropTombstone, keepTombstone, type TombstoneKind, tombstoneOf } from './tombstones.ts'
export {
  deleteTrunk,
  insertTrunk,
  listTrunks,
  lockedTrunk,
  type NewTrunk,
  numbersOn,
  type TrunkRow,
  type TrunkSettings,
  trunkOf,
  writeTrunk,
} from './trunks.ts'
