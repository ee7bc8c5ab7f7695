export { ABORTED } from './aborted.ts'
export {
  type AudioFormat,
  FRAME_MS,
  msToSamples,
  NARROWBAND,
  type SampleRateHz,
  samplesToMs,
  WIDEBAND,
} from './audio-format.ts'
export { BufferedEmitter } from './buffered-emitter.ts'
export { canonicalJson } from './canonical-json.ts'
export { sleepUntil, withDeadline } from './deadline.ts'
export { Emitter } from './emitter.ts'
export { type CodeOf, errorsOf, ParleyError } from './errors.ts'
export { type HedgeCause, hedge } from './hedge.ts'
export { systemRandom, systemTime } from './io/system.ts'
export { TaskThread } from './io/task-thread.ts'
export { judgeAt } from './judge-at.ts'
export { type Machine, MachineDriver } from './machine.ts'
export { percentiles } from './percentiles.ts'
export { type Random, randomBelow, randomToken, randomUint32, SeededRandom } from './random.ts'
export { RecentMap } from './recent-map.ts'
export { Semaphore } from './semaphore.ts'
export type { Time, Timer } from './time.ts'
export { TokenBucket, TokenBuckets, type TokenLevel, type TokenRate } from './token-bucket.ts'
export {
  newSpanId,
  type RunTraceIds,
  runTraceIds,
  type TraceSink,
  type TraceSpan,
  traceparentOf,
  uuidTimeMs,
} from './trace.ts'
export { TransientMap } from './transient-map.ts'
export { TransientSet } from './transient-set.ts'
export type {
  Ms,
  RtpTicks,
  Samples,
  Seq16,
  UnixMs,
} from './units.ts'
export { VirtualTime } from './virtual-time.ts'
