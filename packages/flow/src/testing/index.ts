export { action as actionSchema, type Edge, type FlowNode } from '@parley/nodes'
export { digestOf } from '../draft/publish.ts'
