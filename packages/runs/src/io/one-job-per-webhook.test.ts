// What decision 0049 says of a BullMQ job for each webhook, in one queue for all environments.
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { createPostgresBackend, DelayedError, type Job, withBackend } from 'bullmq'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'

const Bull = withBackend(createPostgresBackend)
const SOON = { timeout: 30_000, interval: 20 }
/** Sends of one process, and of one environment, at once. */
const [ALL, EACH] = [64, 8]
const MANY = 300

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

interface Webhook {
  readonly environment: string
}

/** Runs a worker over the webhooks of a busy environment, whose receiver never answers, and then one of a quick one. */
async function inOneQueue(
  name: string,
  process: (job: Job<Webhook>, token: string | undefined, hang: () => Promise<void>) => Promise<void>,
  judge: (fetched: readonly string[]) => Promise<void>,
): Promise<void> {
  const connection = { connectionString: test.owner.url, schema: 'one_queue', migrate: true, max: 3 }
  const queue = new Bull.Queue<Webhook>(name, { connection })
  const held: (() => void)[] = []
  const fetched: string[] = []
  await queue.addBulk(Array.from({ length: MANY }, () => ({ name: 'send', data: { environment: 'busy' } })))
  await queue.add('send', { environment: 'quick' })
  const worker = new Bull.Worker<Webhook>(
    name,
    async (job, token) => {
      fetched.push(job.data.environment)
      await process(job, token, () => new Promise(resolve => held.push(resolve)))
    },
    { connection, concurrency: ALL },
  )
  worker.on('error', () => {})
  try {
    await judge(fetched)
  } finally {
    await worker.close(true)
    for (const release of held) release()
    await queue.close()
  }
}

it('with one job per webhook, an environment whose receiver hangs takes every place and delays other environments', () =>
  inOneQueue(
    'plain',
    async (job, _, hang) => {
      if (job.data.environment === 'busy') await hang()
    },
    async fetched => {
      await vi.waitFor(() => expect(fetched).toHaveLength(ALL), SOON)
      await new Promise(resolve => setTimeout(resolve, 1000))
      expect(fetched).toHaveLength(ALL)
      expect(fetched).not.toContain('quick')
    },
  ))

it('with jobs that delay themselves beyond their environment’s share, the delayed jobs return before other environments are served', async () => {
  let underWay = 0
  await inOneQueue(
    'delays-itself',
    async (job, token, hang) => {
      if (job.data.environment === 'quick') return
      if (underWay >= EACH) {
        // Shorter than a quick machine takes for all jobs once.
        await job.moveToDelayed(Date.now() + 50, token)
        throw new DelayedError()
      }
      underWay++
      await hang()
    },
    async fetched => {
      await vi.waitFor(() => expect(fetched.length).toBeGreaterThan(2 * MANY), SOON)
      expect(fetched).not.toContain('quick')
    },
  )
})
