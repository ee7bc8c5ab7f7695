export type { CallerAct } from '../caller/caller-step.ts'
export { PhoneError } from '../errors.ts'
export { loudness, type Resemblance, resemblance } from '../resemblance.ts'
