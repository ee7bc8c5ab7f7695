export type { RequestOf, ResultOf } from '@parley/contract'
