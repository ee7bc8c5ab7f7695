export { Call, type CallReport } from '../call.ts'
export { type DialRequest, Engine } from '../engine.ts'
