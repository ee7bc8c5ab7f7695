export type { ActionOutcome, ActionRequest } from '../ports.ts'
