export type { Bus, Database, KeyHolder, Queries, Sealer, Topic } from './protocol.ts'
export type { DraftContent, PlanContent, Schema, SecretKind, TrunkDetails } from './schema.ts'
export { dropTombstone, keepTombstone, type TombstoneKind, tombstoneOf } from './tombstones.ts'
