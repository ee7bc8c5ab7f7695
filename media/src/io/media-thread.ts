import { parentPort, workerData } from 'node:worker_threads'
import { loadOpus } from '../codec/opus.ts'
import { makeMediaPath, makePacketIo, makeTransforms, makeTurns } from './choose-packet-io.ts'
import { MediaThreadLoop } from './media-thread-loop.ts'
import { StallingPacketIo } from './stalling-packet-io.ts'
import { ThreadPriority } from './thread-priority.ts'
import type { MediaThreadData } from './thread-protocol.ts'

/** Entry of a media thread's worker. An error ends the thread: its sessions fail, the plane starts another. */
if (parentPort === null) throw new Error('media-thread.ts runs as a worker')
const { bindAddress, packetIo, stalls, words } = workerData as MediaThreadData
await loadOpus()
const io = makePacketIo(packetIo)
const path = makeMediaPath(packetIo)
await new MediaThreadLoop(
  stalls === null ? io : new StallingPacketIo(io, stalls),
  parentPort,
  bindAddress,
  words,
  makeTransforms(packetIo),
  path,
  stalls === null ? makeTurns(io, path) : null,
  new ThreadPriority(packetIo),
).run()
