import { parentPort } from 'node:worker_threads'
import { NativePacketIo } from '../native-packet-io.ts'

/** A thread with fifty sockets that sleeps without end, as a media thread does between wakes. */
const io = new NativePacketIo()
for (let i = 0; i < 50; i++) await io.open('127.0.0.1', 0)
parentPort!.postMessage('asleep')
for (;;) await io.wait(io.now() + 1000)
