export type { Catalogue, CatalogueModel, CatalogueVoice } from './catalogue.ts'
export type {
  AuditedResource,
  Context,
  ExternalContext,
  Handlers,
  HandlersOf,
  Platform,
  Principal,
  WaitingWork,
} from './context.ts'
export { handlers } from './handlers.ts'
export { type Api, type ApiLimits, type ApiOptions, buildApi } from './http/api.ts'
export { CONNECTIONS, type ConnectionLimits } from './http/connections.ts'
export type { PoolState } from './http/metrics.ts'
export { watchProcess } from './http/process-metrics.ts'
export type { Answer } from './pipeline/answer.ts'
export type { Caller, Credentials } from './pipeline/caller.ts'
export { type Admission, type Invoked, Pipeline, type PipelineOptions } from './pipeline/pipeline.ts'
export { DEFAULT_RATE_LIMITS, type RateLimits } from './pipeline/rate-limits.ts'
export { type Route, routesOf } from './pipeline/route.ts'
export type { Rate } from './pipeline/token-bucket.ts'
