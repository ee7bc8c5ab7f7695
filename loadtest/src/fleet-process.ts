import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FleetReply, FleetRequest } from './fleet/fleet-messages.ts'
import { FleetPhones } from './io/fleet-phones.ts'

/**
 * One process of a fleet, started by `FleetRun`. It takes `FleetRequest`s from its parent and sends `FleetReply`s; it ends when it is
 * told to, or when the parent is gone.
 */
let phones: FleetPhones | null = null
let index = 0
const loop = monitorEventLoopDelay({ resolution: 5 })
loop.enable()

function reply(message: FleetReply): void {
  if (process.connected) process.send!(message)
}

async function sample(open: FleetPhones): Promise<void> {
  const threads = await open.mediaThreads()
  const lateness = threads.map(thread => thread.sendLateness)
  const most = (of: (summary: (typeof lateness)[number]) => number) => Math.max(0, ...lateness.map(of))
  const { user, system } = process.cpuUsage()
  reply({
    type: 'sample',
    sample: {
      process: index,
      live: open.live,
      waiting: open.waiting,
      begun: open.begun,
      cpu_ms: (user + system) / 1000,
      rss_bytes: process.memoryUsage.rss(),
      packets: lateness.reduce((sum, { count }) => sum + count, 0),
      late_p50_ms: most(({ p50Ms }) => p50Ms),
      late_p999_ms: most(({ p999Ms }) => p999Ms),
      late_max_ms: most(({ maxMs }) => maxMs),
      late: lateness.map(({ counts }) => counts),
      loop_max_ms: loop.max / 1e6,
    },
  })
  loop.reset()
}

async function serve(request: FleetRequest): Promise<void> {
  if (request.type === 'open') {
    index = request.part.index
    const opened = await FleetPhones.open(request.part, { onRow: row => reply({ type: 'row', row }) })
    phones = opened
    return reply({ type: 'opened', uris: [opened.uri] })
  }
  if (request.type === 'stage') return phones?.setStage(request.stage)
  if (request.type === 'count') return reply({ type: 'counted', begun: phones?.begun ?? 0 })
  if (request.type === 'stop') return phones?.stop()
  if (request.type === 'sample') return phones === null ? undefined : sample(phones)
  await phones?.close()
  reply({ type: 'closed' })
  process.disconnect()
}

function fail(error: unknown): void {
  reply({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
}

process.on('message', (request: FleetRequest) => void serve(request).catch(fail))
process.on('disconnect', () => process.exit(0))
// A terminal's interrupt goes to the whole group; the parent decides what follows.
process.on('SIGINT', () => {})
