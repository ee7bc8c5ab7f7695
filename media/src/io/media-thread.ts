import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { makePacketIo } from './choose-packet-io.ts'
import { MediaThreadLoop } from './media-thread-loop.ts'
import { StallingPacketIo } from './stalling-packet-io.ts'
import type { MediaThreadData } from './thread-protocol.ts'

/** Entry of a media thread's worker. An error ends the thread: its sessions fail, the plane starts another. */
if (parentPort === null) throw new Error('media-thread.ts runs as a worker')
raisePriority()
const { bindAddress, packetIo, stalls } = workerData as MediaThreadData
const io = makePacketIo(packetIo)
await new MediaThreadLoop(stalls === null ? io : new StallingPacketIo(io, stalls), parentPort, bindAddress).run()

/** On Linux a priority is a thread's own: media goes before all else that is busy here, where we may (CAP_SYS_NICE). */
function raisePriority(): void {
  // Elsewhere it would be the whole process's.
  if (process.platform !== 'linux') return
  try {
    setPriority(0, constants.priority.PRIORITY_HIGH)
  } catch {
    // Not allowed: packets leave when the scheduler lets them.
  }
}
