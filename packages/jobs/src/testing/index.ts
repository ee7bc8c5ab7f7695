export { KnowledgeBuilder } from '../knowledge/knowledge-builder.ts'
export { JobCounters } from '../metrics.ts'
export { MemoryEnvironmentQueue } from './memory-environment-queue.ts'
