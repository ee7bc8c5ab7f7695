export type { Handlers } from '../context.ts'
export type { Api } from '../http/api.ts'
export { brokenValues } from './broken-values.ts'
export { SchemaValues } from './json-schema-values.ts'
export {
  newAgent,
  newNumber,
  newSecret,
  newTrunk,
  publishedAgent,
  type RequestParts,
  VALID_REQUESTS,
  type World,
} from './valid-requests.ts'
export { openWholeApi, type WholeApi } from './whole-api.ts'
