export type { CallerAct } from '../caller-script.ts'
export { PhoneError } from '../errors.ts'
export { loudness, type Resemblance, resemblance } from '../resemblance.ts'
