export type * from './api.ts'
export type { CallOptions } from './caller.ts'
export { type ClientOptions, type Method, ParleyClient } from './client.ts'
export { type ConnectionErrorCode, type Failure, ParleyApiError, ParleyConnectionError } from './errors.ts'
