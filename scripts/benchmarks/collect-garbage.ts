// Loaded by `--import` into every thread of a process that runs with `--expose-gc`: each thread collects its garbage on request.
import { BroadcastChannel } from 'node:worker_threads'

const channel = new BroadcastChannel('collect-garbage')
channel.onmessage = () => collectThread()
channel.unref()

/** Collects this thread's garbage, and gives back what it left. */
export function collectThread(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
