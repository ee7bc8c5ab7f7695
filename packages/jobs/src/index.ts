export { openSipFarEnd } from './io/far-end.ts'
export type { TextAgents } from './text/protocol.ts'
export { startTextRuns } from './text/text-runs.ts'
export { startWorker } from './worker.ts'
