import { setTimeout as sleep } from 'node:timers/promises'
import { Line } from './leaks/line.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const AT_ONCE = 10
const PROGRESS_EVERY = 100
/** The full proof waits also for transactions, which last 64*T1; the short one only for ports and sockets. */
const FULL_SETTLE_MS = 35_000
const SHORT_SETTLE_MS = 4000
const FULL_COUNT = 500
const MAX_GROWTH_BYTES = 24 * 1024 * 1024

/**
 * Makes calls over TLS and SRTP on real sockets, half of them inbound and half outbound, half of each hung up by either side.
 * Afterwards the process has no more sockets, sessions, ports or memory than before. `count` calls in each direction.
 */
export async function proveNoLeaks(
  options: ProofOptions,
  planted: 'nothing' | 'a call' = 'nothing',
): Promise<ProofOutcome> {
  const { seed, count, line: print, progress } = options
  const settleMs = count >= FULL_COUNT ? FULL_SETTLE_MS : SHORT_SETTLE_MS
  const line = await Line.open(seed)
  const settled = async () => {
    progress(`waiting ${settleMs / 1000} s for ports and transactions to be released`)
    await sleep(settleMs)
  }
  try {
    // Warm-up: connections, compiled code and pools stay.
    await calls(line, 40, () => {})
    await settled()
    const before = await line.resources()
    print({ proof: 'leaks', before })
    const failed = await calls(line, count * 2, done => {
      if (done % PROGRESS_EVERY === 0) progress(`${done} of ${count * 2} calls`)
    })
    if (planted === 'a call') await line.forget()
    await settled()
    const after = await line.resources()
    const growth = after.heapBytes - before.heapBytes
    const ok =
      failed === 0 &&
      after.sessions === 0 &&
      after.descriptors <= before.descriptors &&
      after.media === before.media &&
      growth < MAX_GROWTH_BYTES
    return { ok, summary: { calls: count * 2, failed, before, after, heap_growth_bytes: growth } }
  } finally {
    await line.close()
  }
}

/** Makes calls, 10 at a time. Returns the number of calls that did not end as expected. */
async function calls(line: Line, count: number, onDone: (done: number) => void): Promise<number> {
  let failed = 0
  let started = 0
  let done = 0
  const worker = async () => {
    while (started < count) {
      if (!(await line.call(started++, 0))) failed++
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return failed
}

export const proof: Proof = { name: 'leaks', seconds: 900, count: 1000, run: options => proveNoLeaks(options) }
