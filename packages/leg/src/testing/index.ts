export type { LegContext } from '../connect.ts'
export { VirtualLine } from '../virtual-line.ts'
