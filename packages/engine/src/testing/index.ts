export { Call, type CallReport } from '../call.ts'
export type { CallPlan } from '../call-plan.ts'
export { type DialRequest, Engine } from '../engine.ts'
export { type TestRoute, testPlan, testRouter } from './test-calls.ts'
