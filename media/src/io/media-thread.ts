import { parentPort, workerData } from 'node:worker_threads'
import { MediaThreadLoop } from './media-thread-loop.ts'
import { PortablePacketIo } from './portable-packet-io.ts'
import type { MediaThreadData } from './thread-protocol.ts'

/** Entry of a media thread's worker. An error ends the thread: its sessions fail, the plane starts another. */
if (parentPort === null) throw new Error('media-thread.ts runs as a worker')
const { bindAddress } = workerData as MediaThreadData
await new MediaThreadLoop(new PortablePacketIo(), parentPort, bindAddress).run()
