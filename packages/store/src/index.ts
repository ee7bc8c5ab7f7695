export {
  type AgentRow,
  archiveAgent,
  insertAgent,
  listAgents,
  lockAgent,
  readAgent,
  renameUnpublished,
} from './agents.ts'
export {
  type AlertDeliveryResult,
  type AlertTarget,
  intendAlertDelivery,
  nextAlertDeliveryDueInMs,
  readAlertTarget,
  settleAlertDelivery,
  type TakenDelivery,
  takeAlertDeliveries,
} from './alerts/deliveries.ts'
export { readAlertDestinations, writeAlertDestination } from './alerts/destinations.ts'
export {
  ALERT_EVERY_MS,
  type AlertVerdict,
  type EvaluatedRule,
  lockAlertRules,
  nextAlertDueInMs,
  storeAlertEvaluation,
  takeDueAlerts,
} from './alerts/evaluations.ts'
export {
  type LatencyMeasure,
  measureCallErrors,
  measureLatency,
  measureRecordingFailures,
  measureSpend,
  type RateMeasure,
  type SpendMeasure,
  windowUntilNow,
} from './alerts/measures.ts'
export type {
  AlertDeliveryRow,
  AlertEvaluation,
  AlertRuleRow,
  AlertUnavailable,
  AlertWindow,
} from './alerts/protocol.ts'
export { isDestinationKind } from './alerts/rule-rows.ts'
export {
  type AlertDestinationValue,
  acknowledgeDelivery,
  deleteAlertRule,
  insertAlertRule,
  listAlertRules,
  readAlertRule,
  updateAlertRule,
} from './alerts/rules.ts'
export {
  insertKey,
  keyExists,
  listKeys,
  newKeySecret,
  replaceKeySecret,
  revokeKey,
} from './api-keys.ts'
export { type AuditRow, listAudit, writeAudit } from './audit.ts'
export { parseBlobUrl } from './blobs/blob-url.ts'
export type { Blobs } from './blobs/blobs.ts'
export { readRecordingKey, recordingKey, recordingPrefix, segmentKey } from './blobs/recording-keys.ts'
export { type CallLimitRow, readCallLimit, secondsUntilCallAllowed, writeCallLimit } from './call-limit.ts'
export {
  type DraftHead,
  type DraftJson,
  type DraftRevision,
  deleteDraft,
  documentsOfDraft,
  type ImportMark,
  insertDraft,
  type OpenDraft,
  readDraftHead,
  readOpenDraft,
  writeDraft,
} from './drafts.ts'
export { ENVIRONMENT_LIMITS } from './environment-limits.ts'
export { referenceTargets } from './environment-references.ts'
export { StoreError, type StoreErrorCode } from './errors.ts'
export {
  claim,
  dropIntent,
  type IdempotentRequest,
  type IntentLease,
  keepAnswer,
  keepIntent,
  settleIntent,
  takeAnswer,
} from './idempotency.ts'
export { openFileBlobs } from './io/blob-files.ts'
export { postgresBus } from './io/bus-postgres.ts'
export { redisBus } from './io/bus-redis.ts'
export { OPEN_WITHIN_MS, openDatabase } from './io/database.ts'
export { attachEmbeddedPostgres, type EmbeddedPostgres, startEmbeddedPostgres } from './io/embedded-postgres.ts'
export { isAlive, markOf } from './io/embedded-record.ts'
export { checkMasterKey, rotateMasterKey } from './io/master-key-rotation.ts'
export { migrate } from './io/migrate.ts'
export { openBlobs } from './io/open-blobs.ts'
export { PROCESS_ROLES, type ProcessRole, readAddress } from './io/owner-connection.ts'
export { preparationSql } from './io/roles.ts'
export { formatMasterKey, loadMasterKey, type MasterKey, MasterKeySealer, withNewKey } from './io/sealer.ts'
export { addSigningKey, ensureSigningKey } from './io/signing-key-creation.ts'
export {
  type AnalysisInference,
  type AnalysisResult,
  nextAnalysisDueInMs,
  settleAnalysis,
  takeAnalyses,
} from './jobs/analyses.ts'
export type { DueAnalysis, DueWork, LostRun } from './jobs/protocol.ts'
export { type CursorBinding, decodeCursor, encodeCursor, type Page } from './keyset.ts'
export {
  type DocumentRow,
  deleteDocument,
  existingDocuments,
  expireDocuments,
  insertDocument,
  listDocuments,
} from './knowledge/documents.ts'
export {
  type Chunk,
  chunkTexts,
  type DueDocument,
  documentContent,
  type EmbeddingResult,
  nextDocumentDueInMs,
  settleEmbedding,
  storeChunks,
  takeDueDocuments,
} from './knowledge/embedding-work.ts'
export {
  beginGeneration,
  type EmbeddingModel,
  type KnowledgeStatusRow,
  knowledgeStatus,
  type SearchedGeneration,
  searchedGeneration,
  writeEmbeddingModel,
} from './knowledge/generations.ts'
export {
  type ChunkPlace,
  chunksByWords,
  documentsIn,
  passagesAt,
  vectorsAfter,
} from './knowledge/search.ts'
export { chunksByVector, packedFloats } from './knowledge/vector-table.ts'
export {
  deleteNumber,
  insertNumber,
  listNumbers,
  lockAgentAgainstArchiving,
  lockAgentForRun,
  type NumberRow,
  numberOf,
  publishedVersion,
  writeAssignment,
} from './numbers.ts'
export {
  type InvitationRow,
  insertInvitation,
  listInvitations,
  MOST_PEOPLE,
  renewInvitation,
  revokeInvitation,
} from './people/invitations.ts'
export { acceptInvitation, insertLoginLink, takeLoginLink } from './people/links.ts'
export { listMembers, type MemberRow, memberOf, removeMember, setMemberRole } from './people/members.ts'
export { lockPresented, type PresentedCredentials } from './people/presented.ts'
export type { SessionHolder } from './people/protocol.ts'
export { deleteSession, insertSession, readSession } from './people/sessions.ts'
export { newPersonToken, type PersonToken, personTokenHash } from './people/tokens.ts'
export type { Bus, Database, KeyHolder, Lease, Leases, Queries, Sealer, Topic } from './protocol.ts'
export {
  deleteProviderKey,
  listProviderKeys,
  type ProviderKey,
  type ProviderKeyRow,
  putProviderKey,
  readProviderKeys,
} from './provider-keys.ts'
export {
  insertPublication,
  listPublications,
  moveHead,
  type NewPublication,
  type PublicationRow,
  type PublishedRevision,
  publicationOfRevision,
  readPublication,
  readPublicationDetails,
  readPublicationRow,
  readPublishedDraft,
} from './publications.ts'
export { checkCertificate } from './release/certificates.ts'
export {
  cancelOpenTrials,
  comparedCases,
  type GateProgress,
  gateOfTestRun,
  gateProgress,
  insertPairs,
  settledPairs,
  writeGateProgress,
} from './release/gate-progress.ts'
export {
  type GateRow,
  gatesAgainst,
  insertGate,
  insertOverriddenGate,
  lockUnsettledGate,
  nextGateToSettle,
  openGateTestRuns,
  readCertificate,
  readGate,
  releaseGatesOf,
  settleGate,
} from './release/gates.ts'
export { passGate } from './release/pass-gate.ts'
export type { PublicSigningKey } from './release/protocol.ts'
export {
  type Admission,
  type AdmissionRefusal,
  admitRun,
  admitWithAnswer,
  countTransfer,
  type NewRun,
  RefusedAdmission,
  type RunRequest,
} from './runs/admission.ts'
export { admittedRun } from './runs/admitted-run.ts'
export { type BudgetRow, readBudget, writeBudget } from './runs/budget.ts'
export { forgetBlobs } from './runs/contents.ts'
export { type RunLedger, runLedger } from './runs/effect-ledger.ts'
export {
  type InferenceEffect,
  intendEffect,
  listEffects,
  recordInference,
  sendEffect,
  settleEffect,
} from './runs/effects.ts'
export { appendEvents, type EventRow, eventsAfter, listEvents, type NewEvent } from './runs/events.ts'
export {
  cancelRun,
  cancelRunsOfKey,
  cancelRunsOfSiteKey,
  endRun,
  type Finish,
  finishRun,
  type LastWords,
  type RunEnding,
} from './runs/finish.ts'
export { type RunInputs, readInputs, readInputsHead, storeInputs } from './runs/inputs.ts'
export { type LastCall, lastCall } from './runs/last-call.ts'
export {
  answerMessage,
  type MessageAnswer,
  type MessageMove,
  nextMessage,
  postMessage,
  type RunMessage,
  readMessage,
  takeMessage,
} from './runs/messages.ts'
export {
  announce,
  nextWebhookDueInMs,
  type OwnerEvent,
  type SendResult,
  settleSend,
  takeWebhooks,
} from './runs/outbox.ts'
export { claimRun, moveRun, RUN_LEASE_MS, type RunMove, releaseRun, storeDial, storeDialog } from './runs/ownership.ts'
export type {
  Measurement,
  OutboxItem,
  RenewedRun,
  RunOfTenant,
  RunOwner,
  RunOwnership,
  WaitingRun,
} from './runs/protocol.ts'
export { installRateCard, readRateCard } from './runs/rate-cards.ts'
export { endJoin, keepJoined, type RecordingJoin, renewJoin, takeJoin } from './runs/recording-joins.ts'
export {
  addSegment,
  awaitRecording,
  closeRecording,
  isOwnershipCurrent,
  moveRecording,
  openRecording,
  type RecordingRow,
  readRecording,
} from './runs/recordings.ts'
export { type RunWrites, writeRun } from './runs/run-batch.ts'
export { type DialFacts, factsOfCall, factsOfRun, type RunFacts } from './runs/run-facts.ts'
export { listRuns, type RunRow, readRun } from './runs/runs.ts'
export { listSipMessages, type SipMessageRow, storeSipMessages } from './runs/sip-messages.ts'
export { type StartingRun, startingRun } from './runs/starting-run.ts'
export {
  admitSuccessor,
  type SuccessorAdmission,
  type SuccessorPublication,
  sourceEndsCall,
  successorPublication,
} from './runs/successor.ts'
export { readTranscript, type TranscriptRow, writeCheckpoint } from './runs/transcripts.ts'
export { type CallSlot, takeCallSlot } from './runs/trunk-rate.ts'
export {
  type PendingUpdate,
  type RunChange,
  readUpdate,
  settleUpdate,
  storeUpdate,
  takeUpdates,
  type UpdateReceipt,
} from './runs/updates.ts'
export { summariseUsage, type UsageRow } from './runs/usage.ts'
export type { JsonObject, PhoneState, RunAnsweredBy, RunContact, RunKind } from './schema-runs.ts'
export { readSecretValues, type SecretValues } from './secret-values.ts'
export { deleteSecret, listSecrets, lockPinnedSecret, putSecret, type SecretRow } from './secrets.ts'
export {
  auditMasterKeyRotation,
  confirmNumber,
  createOrganisation,
  createStaffKey,
  forgetNumber,
  listOrganisations,
  readEnvironment,
  readTrunkDetails,
  type StaffSetting,
  setEnvironment,
  setTrunkDetails,
  staffScope,
  type TrunkChanges,
} from './staff.ts'
export { asStaff } from './staff-connection.ts'
export { type DialableTrunk, dialableTrunk } from './telephony/dialable-trunk.ts'
export { diallingAgents } from './telephony/dialling-agents.ts'
export { type AnsweredNumber, numberReached } from './telephony/number-reached.ts'
export { detailsInForce, TRUNK_PROFILE_NAMES } from './telephony/profiles/profiles.ts'
export type { InboundTrunk, OutboundTrunk, TelephonyAcrossTenants } from './telephony/protocol.ts'
export { registrationLease, registrationOf, saveRegistration } from './telephony/registrations.ts'
export type { PrivacyValue, TrunkDetails } from './telephony/trunk-details.ts'
export { type TrunkHealth, trunkHealth } from './telephony/trunk-health.ts'
export { saveTrunkPing, type TrunkPing } from './telephony/trunk-pings.ts'
export { type TenantSettingsRow, tenantSettings, writeTenantSettings } from './tenant-settings.ts'
export { concurrentCapacity, environmentsOf, makeSandbox, organisationName } from './tenants.ts'
export type { ReplayOrder, TakenTrial, TestRunSuite } from './tests/protocol.ts'
export { type RecordedRun, recordedRuns } from './tests/recorded-runs.ts'
export {
  cancelTestRuns,
  insertTestRun,
  listCaseResults,
  listTestRuns,
  readTestRun,
  readTrial,
  type TestRunRow,
  trialEstimate,
} from './tests/test-runs.ts'
export {
  deleteSuite,
  insertSuite,
  listSuites,
  lockSuite,
  readSuite,
  type SuiteContent,
  type SuiteRow,
  writeSuite,
} from './tests/test-suites.ts'
export type { TrialRun } from './tests/trial-runs.ts'
export {
  completeTestRun,
  judgeCases,
  lockQueuedTestRun,
  nextTrialDueInMs,
  type QueuedTestRun,
  renewTrial,
  type StartedCase,
  settleTrial,
  startTestRun,
  type TrialResult,
  takeTrials,
  testRunProgress,
} from './tests/trials.ts'
export { dropTombstone, insertTombstone, tombstoneOf } from './tombstones.ts'
export {
  deleteTrunk,
  insertTrunk,
  listTrunks,
  lockedTrunk,
  numbersOn,
  type TrunkRow,
  type TrunkSettings,
  trunkOf,
  writeTrunk,
} from './trunks.ts'
export {
  insertListener,
  readListener,
  settleListener,
  takeListenerOffers,
} from './web/call-listeners.ts'
export type { PresentedSiteKey } from './web/protocol.ts'
export {
  insertSiteKey,
  listSiteKeys,
  lockSiteKey,
  newSiteKeySecret,
  revokeSiteKey,
  siteKeyHash,
} from './web/site-keys.ts'
export {
  addWebCandidates,
  hangUpWebCall,
  insertWebCall,
  readWebCall,
  settleWebOffer,
  storeFirstOffer,
  storeNextOffer,
  type WebCallRow,
  webCallRunId,
} from './web/web-calls.ts'
