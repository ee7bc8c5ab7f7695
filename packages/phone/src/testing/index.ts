export type { CallerAct } from '../caller-script.ts'
export { loudness, type Resemblance, resemblance } from '../resemblance.ts'
