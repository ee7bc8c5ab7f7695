import { round } from './figures.ts'
import type { QueueHarness } from './queue-harness.ts'

/**
 * By role, the share of time (0..1) that the main thread of its process was not idle; media threads do not count, and what a
 * busy machine keeps it from does.
 */
export type EventLoops = Readonly<Record<string, number>>

/** Since the last read, by the `/metrics` of each process of the harness. */
export async function eventLoops({ calls, metrics }: QueueHarness): Promise<EventLoops> {
  const running = calls.processes.filter(({ isRunning }) => isRunning)
  const entries = running.map(async ({ roles }) => [roles, await utilisation(metrics.get(roles)!)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

async function utilisation(url: string): Promise<number> {
  const text = await (await fetch(url)).text()
  const [, value] = /^parley_event_loop_utilization (\S+)$/m.exec(text) ?? []
  if (value === undefined) throw new Error(`${url} does not say how busy the event loop is`)
  return round(Number(value), 3)
}
