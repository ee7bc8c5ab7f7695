import { expect, it } from 'vitest'
import { measureAdmission } from './admission.ts'
import { benchmark } from './benchmark.ts'
import { QueueHarness, queueMissing } from './queue-harness.ts'
import { measureQueue } from './queue-to-invite.ts'

type Summary = Readonly<Record<'read_ratio' | 'read_p99_ms' | 'edit_p99_ms' | 'list_p99_ratio', number>>

/** The summary, and how many reads a second the whole pipeline answered. */
async function measured(planted: string): Promise<Summary & { readonly reads: number }> {
  const given: Readonly<Record<string, string>> = { only: 'reads', rounds: '1', reads: '100', agents: '100', planted }
  const rows: { what?: unknown; whole?: { per_second?: number } }[] = []
  const summary = (await benchmark.run({
    option: name => given[name],
    line: row => void rows.push(row),
    progress: () => {},
  })) as Summary
  return { ...summary, reads: rows.find(({ what }) => what === 'read')?.whole?.per_second ?? Number.NaN }
}

it('npm run bench -- api shows a pipeline that wastes 20 ms in each request', async () => {
  const sound = await measured('0')
  const wasteful = await measured('20')
  for (const figure of Object.values(sound).filter(value => typeof value === 'number'))
    expect(figure).toBeGreaterThan(0)
  // One thread that wastes 20 ms in each of them answers at most 50 a second. The bare handler may be as slow on a busy machine, so that the
  // ratio of one round says little, and the sound pipeline may answer fewer as well.
  expect(wasteful.reads).toBeLessThanOrEqual(50)
  expect(sound.reads).toBeGreaterThan(wasteful.reads)
  // Sixteen ask at once and wait for one another: 320 ms each, but less for those of the beginning, when nobody is before them. So the mean of
  // a hundred is at least 290 ms, and the slowest one cannot be faster than the mean.
  expect(wasteful.read_p99_ms).toBeGreaterThan(14 * 20)
})

it('the queue measurement shows wake-ups that are lost, and admissions that waste 100 ms', async () => {
  const queue = queueMissing('redis') === null ? 'redis' : 'postgres'
  const harness = await QueueHarness.open({ queue, faults: { wasteMs: 100, losesWakeUps: true } })
  try {
    const woken = await measureQueue(harness, { calls: 8, rate: 4, warmUpCalls: 2 })
    expect(woken.event_loop).toEqual({ api: share, worker: share, engine: share })
    await harness.plant()
    const found = await measureQueue(harness, { calls: 8, rate: 4, warmUpCalls: 0 })
    // The engine polls every 5 s: of calls requested within 1.75 s, at least one waits for that long.
    expect(found.claimed_p99_ms).toBeGreaterThan(1500)
    expect(found.claimed_p99_ms).toBeGreaterThan(woken.claimed_p50_ms)
    await harness.heal()
    const sound = await measureAdmission(harness, 40)
    await harness.plant()
    const wasteful = await measureAdmission(harness, 40)
    // One thread that wastes 100 ms in each of them admits at most ten a second, however its other work is ordered.
    expect(wasteful.per_second).toBeLessThanOrEqual(10)
    expect(sound.per_second).toBeGreaterThan(wasteful.per_second)
    // Each round is eight that ask at once. The fourth answer cannot leave before 400 ms are wasted; all eight begin within a few ms.
    expect(wasteful.p50_ms).toBeGreaterThan(350)
    expect(wasteful.p50_ms).toBeGreaterThan(sound.p50_ms)
  } finally {
    await harness.close()
  }
})

const share = expect.toSatisfy((value: number) => value > 0 && value <= 1)
