// The API in a process of its own, which counts the processor time of its main thread between turns of the event loop.

/** Requests to the process, and its reply to `end`. */
export type ProbeOrder = 'begin' | 'end'
export interface Probed {
  readonly longestMs: number
}

let isOn = false
let last = 0
let longestMs = 0

process.on('message', (order: ProbeOrder) => {
  isOn = order === 'begin'
  if (order === 'end') return process.send!({ longestMs } satisfies Probed)
  longestMs = 0
  last = spentMs()
  setImmediate(turn)
  return undefined
})

/** Of this thread alone: what other processes take does not count, nor what other threads do. */
function spentMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function turn(): void {
  if (!isOn) return
  const now = spentMs()
  longestMs = Math.max(longestMs, now - last)
  last = now
  setImmediate(turn)
}

if (process.send !== undefined) await import('../api/whole-process.ts')
