import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { TaskThread } from './task-thread.ts'

interface Outcome {
  readonly task: string
  readonly threadId: number
}

function faultyThread(timeoutMs = 10_000, idleMs?: number): TaskThread<string, Outcome> {
  const script = new URL('./fixtures/faulty-thread.mjs', import.meta.url)
  const thread = new TaskThread<string, Outcome>({
    name: 'faulty',
    script,
    timeoutMs,
    heapMiB: 32,
    ...(idleMs !== undefined && { idleMs }),
  })
  onTestFinished(() => thread.close())
  return thread
}

describe('a task thread', () => {
  it('a task thread runs several tasks on the same thread', async () => {
    const thread = faultyThread()
    const [first, second] = [await thread.run('a', null), await thread.run('b', null)]
    expect([first.task, second.task]).toEqual(['a', 'b'])
    expect(second.threadId).toBe(first.threadId)
  })

  it.each([
    ['throw', 10_000, 'The faulty thread crashed: requested by the test.'],
    ['exit', 10_000, 'The faulty thread ended.'],
    ['hang', 2000, 'The faulty thread did not answer within 2000 ms.'],
  ])(
    'a task thread fails a task that makes it %s, and is replaced for the next task',
    async (task, timeoutMs, message) => {
      const thread = faultyThread(timeoutMs)
      const failure = await thread.run(task, null).catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'thread_failed', retryable: true, message })
      expect(await thread.run('again', null)).toMatchObject({ task: 'again' })
    },
  )

  it('a task thread that is idle ends, and the next task has another', async () => {
    const thread = faultyThread(10_000, 5)
    const { threadId } = await thread.run('a', null)
    const options = { timeout: 10_000, interval: 50 }
    await vi.waitFor(async () => expect((await thread.run('b', null)).threadId).not.toBe(threadId), options)
  })

  it('a task thread that is prepared runs the next task, and a task keeps it from ending', async () => {
    const thread = faultyThread(10_000, 60_000)
    thread.prepare()
    const { threadId } = await thread.run('a', null)
    thread.prepare()
    expect((await thread.run('b', null)).threadId).toBe(threadId)
  })

  it('a task thread that is closed fails its running task and refuses further tasks', async () => {
    const thread = faultyThread()
    const running = thread.run('hang', null).catch((error: unknown) => error)
    await thread.close()
    await thread.close()
    expect(await running).toMatchObject({ code: 'thread_closed', retryable: false })
    await expect(thread.run('a', null)).rejects.toMatchObject({ code: 'thread_closed' })
  })
})
