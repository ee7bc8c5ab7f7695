export { action as actionSchema } from '@parley/contract'
export { digestOf } from '../draft/publish.ts'
export type { Edge } from '../plan/edge.ts'
