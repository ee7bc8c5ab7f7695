import { Refusal } from '@parley/contract'
import { afterEach, describe, expect, it } from 'vitest'
import type { ReadOutcome, ReadTask } from './read-task.ts'
import { type ReadingLimits, ReadingThreads } from './reading-threads.ts'

const MISFORMED: ReadOutcome = { state: 'misformed', issues: [] }
const open: ReadingThreads[] = []
afterEach(() => Promise.all(open.splice(0).map(threads => threads.close())))

/** Threads that fail in the way that the idempotency key of their task names. */
function threadsOf(limits: Partial<ReadingLimits> = {}): ReadingThreads {
  const script = `
    const { parentPort, threadId } = require('node:worker_threads')
    parentPort.on('message', ({ raw: { idempotencyKey: what } }) => {
      if (what === 'crash') throw new Error('on purpose')
      if (what === 'end') process.exit(3)
      if (what === 'swell') { const all = []; for (;;) all.push({ all: [...all] }) }
      if (what === 'spin') for (;;) ;
      if (what === 'silent') return
      parentPort.postMessage({ state: 'misformed', issues: [], threadId })
    })`
  // A data: URL is an ES module, so `require` has to be created.
  const source = `import { createRequire } from 'node:module'; const require = createRequire('file:///x'); ${script}`
  const threads = new ReadingThreads(limits, new URL(`data:text/javascript,${encodeURIComponent(source)}`))
  open.push(threads)
  return threads
}

const task = (what: string): ReadTask => ({
  operation: 'agents.import_inspect',
  raw: { idempotencyKey: what },
  bytes: new Uint8Array(),
  secrets: new Map(),
})
const codeOf = (reading: Promise<ReadOutcome>) =>
  reading.then(
    () => 'read',
    error => (error instanceof Refusal ? `${error.code}/${error.reason}` : error.code),
  )

describe('worker threads for large bodies', () => {
  it('threads start on demand and are reused', async () => {
    const threads = threadsOf({ threads: 1 })
    const first = await threads.read('a', task('read'))
    expect(first).toMatchObject(MISFORMED)
    expect(await threads.read('a', task('read'))).toEqual(first)
  })

  it.each([
    ['crashes', 'crash', {}],
    ['ends', 'end', {}],
    ['takes more memory than it has', 'swell', { heapMiB: 32 }],
    ['hangs', 'spin', { timeoutMs: 500 }],
  ])('a thread that %s is replaced and its request is rejected', async (_, what, limits) => {
    const threads = threadsOf({ threads: 1, ...limits })
    expect(await codeOf(threads.read('a', task(what)))).toBe('reading_failed')
    // The new thread may exceed the short limits of the test while it starts, so several attempts are allowed.
    const again = new Set<string>()
    for (let tries = 0; tries < 50 && !again.has('read'); tries++)
      again.add(await codeOf(threads.read('a', task('read'))))
    expect(again).toContain('read')
  })

  it('the number of waiting bodies is limited in total and per environment', async () => {
    const threads = threadsOf({ threads: 1, waiting: 2, perTenant: 2 })
    const reads = ['a', 'a', 'b'].map(tenant => codeOf(threads.read(tenant, task('silent'))))
    const refused = await threads.read('a', task('read')).catch(error => error)
    expect(refused.envelope.error).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('of this environment'),
      details: { reason: 'request_rate', retry_after_seconds: 2 },
    })
    expect(await codeOf(threads.read('c', task('read')))).toBe('rate_limited/request_rate')
    await threads.close()
    expect(await Promise.all(reads)).toEqual(Array(3).fill('reading_failed'))
  })

  it('one environment never occupies all threads', async () => {
    const threads = threadsOf({ threads: 2 })
    const running = [codeOf(threads.read('a', task('silent'))), codeOf(threads.read('a', task('silent')))]
    expect(await codeOf(threads.read('b', task('read')))).toBe('read')
    await threads.close()
    expect(await Promise.all(running)).toEqual(Array(2).fill('reading_failed'))
  })

  it('closing the threads rejects running and later work', async () => {
    const threads = threadsOf()
    const reading = codeOf(threads.read('a', task('spin')))
    await threads.close()
    expect([await reading, await codeOf(threads.read('a', task('read')))]).toEqual(Array(2).fill('reading_failed'))
  })
})
