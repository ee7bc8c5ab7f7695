// Loaded before a process of the platform: at SIGUSR2 it plants the faults that this module's address names, for the
// benchmark must show them. `?wasteMs=20`: every request over HTTP wastes so long. `?wakeUps=lost`: none gets into a queue.
import { Server } from 'node:http'
import { isMainThread } from 'node:worker_threads'
import { PLANTED } from './messages.ts'

const asked = new URL(import.meta.url).searchParams

async function plant(): Promise<void> {
  wasteTime(Number(asked.get('wasteMs') ?? 0))
  if (asked.get('wakeUps') === 'lost') {
    const { Queue } = await import('bullmq')
    Queue.prototype.add = async () => undefined as never
  }
  process.stdout.write(`${PLANTED}\n`)
}

function wasteTime(ms: number): void {
  const { emit } = Server.prototype
  Server.prototype.emit = function (this: Server, event: string | symbol, ...rest: unknown[]) {
    const until = performance.now() + (event === 'request' ? ms : 0)
    while (performance.now() < until);
    return Reflect.apply(emit, this, [event, ...rest])
  }
}

if (isMainThread) process.once('SIGUSR2', () => void plant())
