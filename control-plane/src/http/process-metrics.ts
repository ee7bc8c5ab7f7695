import { performance } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'

/** From now on the figures of the process itself are shown: how busy its main thread is, and its memory. Once a process. */
export function watchProcess(registry: Registry): void {
  const registers = [registry]
  let before = performance.eventLoopUtilization()
  new Gauge({
    name: 'parley_event_loop_utilization',
    help: 'Share of time the main event loop was busy since the last look (0..1)',
    registers,
    collect() {
      const now = performance.eventLoopUtilization()
      this.set(performance.eventLoopUtilization(now, before).utilization)
      before = now
    },
  })
  new Gauge({
    name: 'parley_resident_bytes',
    help: 'Memory of the process',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
}
