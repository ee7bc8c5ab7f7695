export { HeldUpTime } from './held-up-time.ts'
export { runningTime } from './io/running-time.ts'
