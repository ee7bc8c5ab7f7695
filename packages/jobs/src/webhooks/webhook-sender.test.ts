import { createHmac } from 'node:crypto'
import { runWebhook } from '@parley/contract/testing'
import { OutboundHttp } from '@parley/egress'
import { runTraceIds, systemRandom, systemTime, type TraceSpan } from '@parley/kernel'
import {
  announce,
  type Database,
  deleteSecret,
  finishRun,
  MasterKeySealer,
  putSecret,
  type RunOwnership,
  StoreError,
  withNewKey,
} from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { PlanCache } from '../plan-cache.ts'
import { HookServer } from '../testing/hook-server.ts'
import { CHAT, JobsHarness, SOON } from '../testing/jobs-harness.ts'
import { WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts'

let test: TestDatabase
let harness: JobsHarness
let hooks: HookServer
let egress: OutboundHttp
const sealer = new MasterKeySealer(withNewKey(new Map([[1, Buffer.alloc(32, 1)]])))
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  await test.owner.query('delete from parley.outbox')
  harness = await JobsHarness.open(test)
  hooks = await HookServer.start()
  egress = new OutboundHttp({ allow: [{ host: '127.0.0.1', port: hooks.port }], time: systemTime })
  await harness.publish('teller', { notification: notification() })
  await secret('first')
})
afterEach(async () => {
  await egress.close()
  await hooks.close()
})

function notification(changes: object = {}) {
  const events = ['run.started', 'run.ended', 'run.analyzed', 'run.transfer']
  return { url: hooks.url, secret: { id: 'hook', version: '1' }, events, ...changes }
}

const secret = (value: string) =>
  harness.write(tx => putSecret(tx, harness.scope, sealer, { secret_id: 'hook', kind: 'webhook_signing', value }))

/** Tries are due again at once. */
function sender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const { counters, log, time } = harness
  const database = test.database
  return new WebhookSender({
    database,
    sealer,
    egress,
    counters,
    log,
    time,
    random: systemRandom,
    wallClock: () => Date.now(),
    plans: new PlanCache(database),
    queue: harness.queue,
    retryAfterMs: [0, 0, 0, 0, 0],
    ...options,
  })
}

/** A chat that started, told of it, and ended. */
async function told(agent_id = 'teller'): Promise<RunOwnership> {
  const run = await harness.run({ moves: [{ state: 'running' }] }, { ...CHAT, agent_id, notifies: true })
  await harness.write(tx => announce(tx, harness.scope, run, 'run.started'))
  await harness.end(run, finishRun)
  return run
}

/** One round of the environment: it ends when nothing is due. */
const sendAll = (one = sender()): Promise<void> => one.round(harness.scope)

function isSigned({ signature, body }: { signature: string; body: string }, secrets: readonly string[]): boolean {
  const [, t, rest] = /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/.exec(signature) ?? []
  const values = secrets.map(key => `,v1=${createHmac('sha256', key).update(`${t}.${body}`).digest('hex')}`)
  return rest === values.join('') && Math.abs(Number(t) - Date.now() / 1000) < 60
}

const outbox = async (run: RunOwnership) => {
  const { rows } = await test.owner.query(
    'select event, attempts, settled_at is not null as settled, delivered from parley.outbox where run_id = $1 order by outbox_id',
    [run.run_id],
  )
  return rows
}

describe('an agent webhook', () => {
  it('a webhook names the trace of its run, in the body and in the header, and each send is a span of it', async () => {
    const run = await told()
    const spans: TraceSpan[] = []
    hooks.answer = () => (hooks.received.length === 1 ? 500 : 200)
    await sendAll(sender({ trace: span => spans.push(span) }))
    const { traceId, run: parentId } = runTraceIds(run.run_id)
    for (const { body, traceparent } of hooks.received) {
      expect(JSON.parse(body).trace_id).toBe(traceId)
      expect(traceparent).toBe(`00-${traceId}-${parentId}-01`)
    }
    expect(spans.map(({ name, error, attributes }) => [name, error, attributes['http.request.resend_count']])).toEqual([
      ['webhook run.started', 'failed', 0],
      ['webhook run.started', null, 1],
      ['webhook run.ended', null, 0],
    ])
    expect(new Set(spans.map(span => `${span.traceId} ${span.parentId}`))).toEqual(new Set([`${traceId} ${parentId}`]))
  })

  it('webhooks carry the run’s state at their event, signed and in order, and each try is an effect with a receipt', async () => {
    const run = await told()
    await sendAll()
    expect(hooks.received.map(({ event, runId }) => [event, runId])).toEqual([
      ['run.started', run.run_id],
      ['run.ended', run.run_id],
    ])
    expect(hooks.received.every(hook => isSigned(hook, ['first']))).toBe(true)
    const [started, ended] = hooks.received.map(hook => JSON.parse(hook.body))
    expect(Object.keys(started)).toEqual(['event', 'event_id', 'occurred_at', 'trace_id', 'run'])
    for (const body of [started, ended]) expect(runWebhook.parse(body)).toEqual(body)
    expect(started.run).toMatchObject({ ...harness.scope, run_id: run.run_id, state: 'running', ended_at: null })
    expect(ended.run).toEqual(JSON.parse(JSON.stringify(await harness.read(run.run_id))))
    expect(started.event_id).not.toBe(ended.event_id)
    const receipt = {
      kind: 'http',
      status: 200,
      response_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      response_bytes: 6,
      duration_ms: expect.any(Number),
      send_attempt: 1,
    }
    const effect = {
      action: { id: 'webhook.send', version: 1 },
      effect_kind: 'http',
      node_id: null,
      ordinal: 0,
      state: 'succeeded',
      error_code: null,
      decision: { decision: 'allow', reason: null, policy_version: '1' },
      receipts: [receipt],
    }
    expect(await harness.effects(run.run_id)).toMatchObject([effect, effect])
    expect(await outbox(run)).toMatchObject([{ delivered: true }, { delivered: true }])
  })

  it('a webhook that is in flight when its run ends is stored as delivered, and is not sent again', async () => {
    const run = await harness.run({ moves: [{ state: 'running' }] }, { ...CHAT, agent_id: 'teller', notifies: true })
    await harness.write(tx => announce(tx, harness.scope, run, 'run.started'))
    hooks.answer = async ({ event }) => {
      if (event === 'run.started') await harness.end(run, finishRun)
      return 200
    }
    await sendAll()
    expect(hooks.received.map(({ event }) => event)).toEqual(['run.started', 'run.ended'])
    expect(await outbox(run)).toMatchObject([
      { attempts: 1, delivered: true },
      { attempts: 1, delivered: true },
    ])
    expect(await harness.effects(run.run_id)).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }])
    expect(harness.problems).toEqual([])
  })

  it('a webhook whose receiver answers during a short outage of the database is not sent again', async () => {
    const run = await told()
    let isAway = false
    hooks.answer = () => {
      isAway = true
      setTimeout(() => {
        isAway = false
      }, 100)
      return 200
    }
    const database = {
      within: test.database.within.bind(test.database),
      transaction: (...[scope, work]: Parameters<Database['transaction']>) =>
        isAway
          ? Promise.reject(new StoreError('database_unavailable', 'it is away'))
          : test.database.transaction(scope, work),
    } as Database
    const one = sender({ database, time: systemTime })
    // A round ends with the database's error; the next one continues.
    await vi.waitFor(async () => {
      await sendAll(one).catch(() => {})
      expect(hooks.received).toHaveLength(2)
    }, SOON)
    expect(hooks.received.map(({ event }) => event)).toEqual(['run.started', 'run.ended'])
    await vi.waitFor(async () => {
      expect(await outbox(run)).toMatchObject([
        { attempts: 1, delivered: true },
        { attempts: 1, delivered: true },
      ])
    }, SOON)
    expect(await harness.effects(run.run_id)).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }])
  })

  it('a webhook is signed with both secret versions while the pinned one is not the current one', async () => {
    await secret('second')
    await told()
    await sendAll()
    expect(hooks.received.every(hook => isSigned(hook, ['first', 'second']))).toBe(true)
    expect(hooks.received).toHaveLength(2)
  })

  it('a webhook is retried until it is accepted, and later webhooks of its run wait', async () => {
    const answers: (number | null)[] = [500, 404, null, 302, 200]
    hooks.answer = () => (answers.length > 1 ? answers.shift()! : 200)
    const run = await told()
    await sendAll()
    const { event_id } = JSON.parse(hooks.received[0]!.body)
    expect(hooks.received.map(({ event }) => event)).toEqual([...Array(5).fill('run.started'), 'run.ended'])
    expect(hooks.received.slice(0, 5).every(({ body }) => JSON.parse(body).event_id === event_id)).toBe(true)
    const effects = await harness.effects(run.run_id)
    expect(effects.map(({ ordinal, state, error_code }) => [ordinal, state, error_code])).toEqual([
      [0, 'failed', 'http_500'],
      [1, 'failed', 'http_404'],
      [2, 'uncertain', 'no_answer'],
      [3, 'failed', 'http_302'],
      [4, 'succeeded', null],
      [0, 'succeeded', null],
    ])
  })

  it('a webhook follows a redirect on the same host with its whole body', async () => {
    hooks.location = '/moved'
    hooks.answer = ({ path }) => (path === '/moved' ? 200 : 301)
    await told()
    await sendAll()
    expect(hooks.received.map(({ path, event }) => [path, event])).toEqual([
      ['/hook', 'run.started'],
      ['/moved', 'run.started'],
      ['/hook', 'run.ended'],
      ['/moved', 'run.ended'],
    ])
    expect(hooks.received.every(hook => isSigned(hook, ['first']))).toBe(true)
  })

  it('a webhook is given up after six tries, and the next one is sent', async () => {
    hooks.answer = ({ event }) => (event === 'run.started' ? 503 : 200)
    const run = await told()
    await sendAll()
    expect(hooks.received.map(({ event }) => event)).toEqual([...Array(6).fill('run.started'), 'run.ended'])
    expect(await outbox(run)).toMatchObject([
      { attempts: 6, delivered: false },
      { attempts: 1, delivered: true },
    ])
  })

  it('the pauses between tries of a webhook are as documented', async () => {
    hooks.answer = () => 503
    const run = await told()
    const pauses = [1000, 5000, 30_000, 120_000, 600_000]
    const one = sender({ retryAfterMs: pauses })
    const now = async () => Date.parse(await test.database.jobs.clock())
    for (let tries = 0; tries < pauses.length; ) {
      const before = await now()
      await one.round(harness.scope)
      const after = await now()
      const started = "where run_id = $1 and event = 'run.started'"
      const { rows } = await test.owner.query(
        `select attempts, extract(epoch from next_at) * 1000 as due from parley.outbox ${started}`,
        [run.run_id],
      )
      await test.owner.query(`update parley.outbox set next_at = now() - interval '1 ms' ${started}`, [run.run_id])
      const [due, pause] = [Number(rows[0].due), pauses[rows[0].attempts - 1]!]
      expect(due).toBeGreaterThanOrEqual(before + pause)
      expect(due).toBeLessThanOrEqual(after + pause)
      // One more, or two where this machine took longer for a round than the first pause.
      expect(rows[0].attempts).toBeGreaterThan(tries)
      tries = rows[0].attempts
    }
  })

  it('a webhook is not sent for an event that the publication does not list', async () => {
    await harness.publish('terse', { notification: notification({ events: ['run.ended'] }) })
    const run = await told('terse')
    await sendAll()
    expect(hooks.received.map(({ event }) => event)).toEqual(['run.ended'])
    expect(await outbox(run)).toMatchObject([{ settled: true, delivered: false }, { delivered: true }])
  })

  it('a webhook is never sent to a private address or without its secret', async () => {
    const closed = new OutboundHttp({ allow: [], time: systemTime })
    const refused = await told()
    await sendAll(sender({ egress: closed }))
    await closed.close()
    await harness.write(tx => deleteSecret(tx, harness.scope, 'hook', true))
    const unsigned = await told()
    await sendAll()
    for (const [run, reason] of [
      [refused, 'address_not_allowed'],
      [unsigned, 'secret_missing'],
    ] as const) {
      const denied = {
        state: 'failed',
        error_code: 'policy_denied',
        decision: { decision: 'deny', reason },
        receipts: [],
      }
      expect(await harness.effects(run.run_id)).toMatchObject([denied, denied])
      expect(await outbox(run)).toMatchObject([{ delivered: false }, { delivered: false }])
    }
    expect(hooks.received).toEqual([])
  })

  it('a webhook of one run does not wait for those of another run', async () => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const slow = await told()
    hooks.answer = ({ runId }) => (runId === slow.run_id ? promise : 200)
    const one = sender()
    void one.round(harness.scope)
    await vi.waitFor(() => expect(hooks.received).toHaveLength(1), SOON)
    const quick = await told()
    // Again and again: the round may not wait yet.
    await vi.waitFor(async () => {
      harness.time.advance(250)
      expect(await outbox(quick)).toMatchObject([{ delivered: true }, { delivered: true }])
    }, SOON)
    expect(await outbox(slow)).toMatchObject([{ settled: false }, { attempts: 0 }])
    resolve(200)
    await one.close()
    // Its next one goes out as well if the sender was looking for due ones at that moment.
    expect((await outbox(slow))[0]).toMatchObject({ delivered: true })
  })

  it('a webhook whose sender died is sent again, and the first try is in doubt', async () => {
    const run = await told()
    // Dies while it sends: it never hears the answer, and never says what came of it.
    const dying = sender({
      egress: {
        ...egress,
        send: never,
        close: async () => {},
        prepare: async () => ({ type: 'prepared', send: never }),
      },
    })
    void dying.round(harness.scope)
    await vi.waitFor(async () => expect(await harness.effects(run.run_id)).toMatchObject([{ state: 'sending' }]), SOON)
    await sendAll()
    expect(hooks.received).toEqual([])
    await test.owner.query(
      "update parley.outbox set lease_until = now() - interval '1 ms' where lease_until is not null",
    )
    await sendAll()
    expect(hooks.received.map(({ event }) => event)).toEqual(['run.started', 'run.ended'])
    expect((await harness.effects(run.run_id)).map(({ state, error_code }) => [state, error_code])).toEqual([
      ['uncertain', 'owner_lost'],
      ['succeeded', null],
      ['succeeded', null],
    ])
  })

  it('a webhook whose sender died after it stored the receiver’s acceptance is not sent again', async () => {
    const run = await told()
    // Its connection hangs from the commit of the acceptance on.
    const hanging = new Proxy(test.database, {
      get(database, name) {
        const member = Reflect.get(database, name)
        if (name !== 'transaction') return typeof member === 'function' ? member.bind(database) : member
        const transaction: typeof database.transaction = async (scope, work) => {
          const effects = await harness.effects(run.run_id)
          if (effects[0]?.state === 'succeeded') return new Promise<never>(() => {})
          return database.transaction(scope, work)
        }
        return transaction
      },
    })
    const dying = sender({ database: hanging })
    void dying.round(harness.scope)
    await vi.waitFor(
      async () => expect(await harness.effects(run.run_id)).toMatchObject([{ state: 'succeeded' }]),
      SOON,
    )
    await test.owner.query(
      "update parley.outbox set lease_until = now() - interval '1 ms' where lease_until is not null",
    )
    await sendAll()
    expect(hooks.received.map(({ event }) => event)).toEqual(['run.started', 'run.ended'])
    expect(await outbox(run)).toMatchObject([
      { attempts: 2, delivered: true },
      { attempts: 1, delivered: true },
    ])
  })

  it('a webhook that another sender took over is settled by that sender alone', async () => {
    const run = await told()
    hooks.answer = async ({ event }) => {
      if (event === 'run.started')
        await test.owner.query(
          `update parley.outbox set attempts = attempts + 1, lease_until = now() + interval '1 minute'
           where lease_until is not null`,
        )
      return 200
    }
    const one = sender()
    await one.round(harness.scope)
    expect(await outbox(run)).toMatchObject([{ settled: false, attempts: 2 }, { attempts: 0 }])
    expect(harness.counters.read().webhooks_delivered).toBe(0)
  })
})

const never = () => new Promise<never>(() => {})
