export { runningTime } from './io/running-time.ts'
