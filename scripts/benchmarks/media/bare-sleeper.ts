// A thread with the priority of a media thread that only sleeps until deadlines 2.5 ms apart. It measures how late the machine
// wakes threads.
import { parentPort, workerData } from 'node:worker_threads'
import { NativePacketIo } from '@parley/media/testing'
import { ThreadPriority } from '../../../media/src/io/thread-priority.ts'
import { quantiles } from './lateness.ts'

const WAKE_MS = 2.5

const { stop, packetIo } = workerData as { stop: Int32Array; packetIo: 'native' | 'portable' }
const io = new NativePacketIo()
const late: number[] = []
new ThreadPriority(packetIo).raise()
for (let at = io.now() + WAKE_MS; Atomics.load(stop, 0) === 0; at += WAKE_MS) {
  await io.wait(at)
  late.push(Math.max(0, io.now() - at))
}
parentPort!.postMessage(quantiles(late))
