export type { ActionOutcome, ActionRequest } from '../ports.ts'
export { if_, planOf, says, when } from './plans.ts'
export { ScriptedModel } from './scripted-model.ts'
