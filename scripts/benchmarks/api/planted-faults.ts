// Preloaded into a process of the platform. SIGUSR2 activates the faults in the query of this module's URL, the next SIGUSR2
// deactivates them. `?wasteMs=20`: every HTTP request wastes 20 ms. `?runQueue=lost`: no job enters a queue.
import { Server } from 'node:http'
import { isMainThread } from 'node:worker_threads'
import { FAULTS_ARE } from './messages.ts'

const settings = new URL(import.meta.url).searchParams
let arePlanted = false

async function prepare(): Promise<void> {
  wasteTime(Number(settings.get('wasteMs') ?? 0))
  if (settings.get('runQueue') === 'lost') await loseWakeUps()
}

function wasteTime(ms: number): void {
  const { emit } = Server.prototype
  Server.prototype.emit = function (this: Server, event: string | symbol, ...rest: unknown[]) {
    const until = performance.now() + (arePlanted && event === 'request' ? ms : 0)
    while (performance.now() < until);
    return Reflect.apply(emit, this, [event, ...rest])
  }
}

async function loseWakeUps(): Promise<void> {
  const { Queue } = await import('bullmq')
  const { add } = Queue.prototype
  Queue.prototype.add = function (...job) {
    return arePlanted ? Promise.resolve(undefined as never) : add.apply(this, job)
  }
}

let prepared: Promise<void> | undefined

async function toggle(): Promise<void> {
  prepared ??= prepare()
  await prepared
  arePlanted = !arePlanted
  process.stdout.write(`${FAULTS_ARE[arePlanted ? 'planted' : 'healed']}\n`)
}

if (isMainThread) process.on('SIGUSR2', () => void toggle())
