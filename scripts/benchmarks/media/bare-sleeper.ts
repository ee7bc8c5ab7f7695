// A thread of the priority of a media thread that only sleeps, to deadlines 2.5 ms apart: how late the machine itself is.
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { NativePacketIo } from '@parley/media'
import { quantiles } from './lateness.ts'

const WAKE_MS = 2.5

const stop = workerData as Int32Array
const io = new NativePacketIo()
const late: number[] = []
try {
  setPriority(0, constants.priority.PRIORITY_HIGH)
} catch {
  // As for media threads: where it is not allowed, the scheduler decides.
}
for (let at = io.now() + WAKE_MS; Atomics.load(stop, 0) === 0; at += WAKE_MS) {
  await io.wait(at)
  late.push(Math.max(0, io.now() - at))
}
parentPort!.postMessage(quantiles(late))
