export {
  type AgentFilter,
  type AgentPosition,
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
  type DraftHead,
  type DraftOrigin,
  type DraftRevision,
  deleteDraft,
  type ImportMark,
  insertDraft,
  type OpenDraft,
  readDraftHead,
  readOpenDraft,
  writeDraft,
} from './drafts.ts'
export { type DatabaseOptions, openDatabase } from './io/database.ts'
export { type Migration, migrate } from './io/migrate.ts'
export type { PoolLimits } from './io/tenant-pool.ts'
export type { Bus, Database, KeyHolder, Queries, Sealer, Topic } from './protocol.ts'
export {
  insertPublication,
  listPublications,
  moveHead,
  type NewPublication,
  type PublicationRow,
  publicationOfRevision,
  readPublication,
  type WholePublication,
} from './publications.ts'
export type { DraftContent, PlanContent, Schema, SecretKind, TrunkDetails } from './schema.ts'
export { type ReferenceTargets, referenceTargets } from './surroundings.ts'
export { dropTombstone, keepTombstone, type TombstoneKind, tombstoneOf } from './tombstones.ts'
