export type { Handlers } from '../context.ts'
export type { Api } from '../http/api.ts'
