import { performance } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'

/** Adds the load of the main thread and the memory of the process to the metrics. Call it once per registry. */
export function watchProcess(registry: Registry): void {
  const registers = [registry]
  let before = performance.eventLoopUtilization()
  new Gauge({
    name: 'parley_event_loop_utilization',
    help: 'Share of time that the main event loop was busy since the previous scrape (0..1)',
    registers,
    collect() {
      const now = performance.eventLoopUtilization()
      this.set(performance.eventLoopUtilization(now, before).utilization)
      before = now
    },
  })
  new Gauge({
    name: 'parley_resident_bytes',
    help: 'Resident memory of the process',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
}
