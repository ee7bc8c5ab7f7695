import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Work } from '../protocol.ts'
import { BullConnections } from './bull-connections.ts'
import { BullRunQueue } from './bull-run-queue.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())

const SCOPE = { owner_id: 'o', environment: 'production', tenant_id: 't' } as const
const workOf = (run_id: string, kind: Work['kind'] = 'phone'): Work => ({ kind, run_id, scope: SCOPE })

type Make = (now?: () => number) => BullRunQueue & { close(): Promise<void> }

async function within<Result>(work: (make: Make) => Promise<Result>): Promise<Result> {
  const opened: BullConnections[] = []
  const problems: string[] = []
  try {
    return await work((wallClock = Date.now) => {
      const connections = new BullConnections({
        on: { postgres: test.owner.url },
        wallClock,
        onProblem: line => problems.push(line),
      })
      opened.push(connections)
      return Object.assign(new BullRunQueue(connections, wallClock), { close: () => connections.close() })
    })
  } finally {
    for (const connections of opened) await connections.close()
    expect(problems).toEqual([])
  }
}

it('the run queue delivers each wake-up promptly to one process that listens for its kind', () =>
  within(async make => {
    const [api, one, other, worker] = [make(), make(), make(), make()]
    const taken: [string, string][] = []
    const listen = (who: string) => async (work: Work) => void taken.push([who, work.run_id])
    await one.listen(['phone'], listen('one'))
    await other.listen(['phone'], listen('other'))
    await worker.listen(['chat', 'task', 'background'], listen('worker'))
    for (let i = 0; i < 20; i++) api.wake(workOf(`run-${i}`))
    api.wake(workOf('a chat', 'chat'))
    await vi.waitFor(() => expect(taken.length).toBe(21))
    expect(new Set(taken.map(([, run]) => run)).size).toBe(21)
    expect(taken.filter(([who]) => who === 'worker')).toEqual([['worker', 'a chat']])
  }))

it('wake-ups of the run queue that come while one is under way share jobs of eight at most, and each is delivered', () =>
  within(async make => {
    const [api, engine] = [make(), make()]
    for (let i = 0; i < 21; i++) api.wake(workOf(`run-${i}`))
    const jobs = async () => {
      const { rows } = await test.owner.query("select data from parley_queue.job where queue = 'calls' order by seq")
      return rows.map(({ data }) => 1 + (data.more?.length ?? 0))
    }
    await vi.waitFor(async () => expect(await jobs()).toEqual([1, 8, 8, 4]))
    const taken: Work[] = []
    await engine.listen(['phone'], async work => void taken.push(work))
    await vi.waitFor(() => expect(taken.length).toBe(21))
    expect(taken.toSorted((a, b) => Number(a.run_id.slice(4)) - Number(b.run_id.slice(4)))).toEqual(
      Array.from({ length: 21 }, (_, i) => workOf(`run-${i}`)),
    )
  }))

it('the run queue drops a wake-up that no process took within 30 s', () =>
  within(async make => {
    make().wake(workOf('old'))
    const queued = async () =>
      (await test.owner.query("select from parley_queue.job where queue = 'calls' and data->>'run_id' = 'old'"))
        .rowCount
    await vi.waitFor(async () => expect(await queued()).toBe(1))
    let lateMs = 30_001
    const engine = make(() => Date.now() + lateMs)
    const taken: string[] = []
    await engine.listen(['phone'], async work => void taken.push(work.run_id))
    await vi.waitFor(async () => expect(await queued()).toBe(0))
    lateMs = 0
    engine.wake(workOf('new'))
    await vi.waitFor(() => expect(taken).toEqual(['new']))
  }))

it('a run queue that closes while it starts leaves no connection and logs no error', () =>
  within(async make => {
    const open = async () => {
      const { rows } = await test.owner.query(
        "select count(*)::int as open from pg_stat_activity where application_name = 'calls' and datname = current_database()",
      )
      return rows[0].open as number
    }
    for (let i = 0; i < 3; i++) {
      const stop = await make().listen(['phone'], async () => {})
      await stop()
    }
    // A worker that is closed too early opens a connection later, and never closes it.
    await new Promise(resolve => setTimeout(resolve, 500))
    await vi.waitFor(async () => expect(await open()).toBe(0))
  }))
