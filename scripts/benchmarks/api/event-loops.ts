import { round } from './figures.ts'
import type { QueueHarness } from './queue-harness.ts'

/**
 * Event loop utilisation (0 to 1) of each process's main thread, by role. It includes time in which a busy machine did not run the
 * thread; media threads do not count.
 */
export type EventLoops = Readonly<Record<string, number>>

/** The utilisation since the last call, from `/metrics` of each process. */
export async function eventLoops({ calls, metrics }: QueueHarness): Promise<EventLoops> {
  const running = calls.processes.filter(({ isRunning }) => isRunning)
  const entries = running.map(async ({ roles }) => [roles, await utilisation(metrics.get(roles)!)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

async function utilisation(url: string): Promise<number> {
  const text = await (await fetch(url)).text()
  const [, value] = /^parley_event_loop_utilization (\S+)$/m.exec(text) ?? []
  if (value === undefined) throw new Error(`${url} has no metric parley_event_loop_utilization`)
  return round(Number(value), 3)
}
