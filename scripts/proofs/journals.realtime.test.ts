import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { WebhookReceiver } from '@parley/loadtest'
import { type TcpCut, type TestDatabase, tcpCut, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CallHarness } from './calls/call-harness.ts'
import { pollUntil } from './calls/poll-until.ts'
import {
  ANSWERS_LATE,
  HANGS_UP,
  killedWhileAway,
  LISTENS,
  linesIn,
  NUMBERS,
  ORDERED,
  type Outage,
  RUNS,
  timelineOf,
  WEBHOOK_SECRET,
} from './journals/killed-while-away.ts'
import { openSlowOrderServer, type SlowOrderServer } from './journals/slow-order-server.ts'

/** Short, so that the runs of a killed process are reaped soon. */
const LEASE_MS = '3000'
/** A webhook whose sender was killed is sent again when its lease of 30 s ends. */
const SETTLE_TIMEOUT_MS = 60_000
const TEST_TIMEOUT_MS = 2 * SETTLE_TIMEOUT_MS

describe('a platform that is killed during a database outage, and again while it replays its journals', () => {
  let test: TestDatabase
  let relay: TcpCut
  let receiver: WebhookReceiver
  let orderServer: SlowOrderServer
  let harness: CallHarness
  let outage: Outage

  beforeAll(async () => {
    test = await testDatabase()
    const url = new URL(test.owner.url)
    relay = await tcpCut(Number(url.port))
    url.port = String(relay.port)
    receiver = await WebhookReceiver.open({ secrets: [WEBHOOK_SECRET] })
    orderServer = await openSlowOrderServer()
    harness = await CallHarness.open({
      processes: ['api,worker,engine'],
      numbers: NUMBERS,
      lines: ['udp'],
      database: { url: url.href, ownerUrl: test.owner.url },
      env: {
        PARLEY_LEASE_MS: LEASE_MS,
        PARLEY_EGRESS_ALLOW: [receiver.url, orderServer.origin].map(to => new URL(to).host).join(','),
      },
    })
    outage = await killedWhileAway({ harness, relay, receiver, orderServer, ownerUrl: test.owner.url })
  })

  afterAll(async () => {
    await harness?.close()
    await orderServer?.close()
    await receiver?.close()
    await relay?.close()
    await test?.close()
  })

  const runOf = async (run_id: string) => {
    const text = 'select state, phone_state, outcome from parley.runs where run_id = $1'
    return (await harness.rows<{ state: string; phone_state: string | null; outcome: object }>(text, [run_id]))[0]
  }

  const unsettled = () =>
    harness.rows(`select r.to_number, r.state as run_state, e.effect_kind, e.send_attempts, e.state, e.created_at
      from parley.run_effects e join parley.runs r using (run_id) where e.state in ('intended', 'sending')`)

  it('every run has a journal at the first kill, and the second process replays some of them', () => {
    expect(outage.journals.map(({ run_id }) => run_id).sort()).toEqual(RUNS.map(name => outage.runs[name]).sort())
    expect(outage.leftBySecond).toBeGreaterThan(0)
    expect(outage.leftBySecond).toBeLessThan(RUNS.length)
  })

  it.each(RUNS)('the timeline of the run "%s" has every journaled item once and in order', async name => {
    const run_id = outage.runs[name]
    const rows = await timelineOf(harness, run_id)
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
    const { last_seq, items } = outage.journals.find(journal => journal.run_id === run_id)!
    expect(last_seq).toBeLessThanOrEqual(outage.before.get(run_id)!)
    const replayed = rows.slice(last_seq, last_seq + items.length)
    expect(replayed.map(({ kind, at }) => [kind, at.toISOString()])).toEqual(items.map(({ kind, at }) => [kind, at]))
    // Only the end of the run and the error of the lost process follow.
    expect(rows.slice(last_seq + items.length).filter(({ kind }) => kind !== 'error' && kind !== 'state')).toEqual([])
  })

  it('the timelines have every line that the platform printed until shortly before the kill', async () => {
    for (const name of ['listens', 'answers late', 'hangs up'] as const) {
      const printed = outage.printed.get(outage.runs[name])!
      expect(printed.length).toBeGreaterThan(5)
      const lines = linesIn(await timelineOf(harness, outage.runs[name]))
      const first = lines.indexOf(printed[0]!)
      expect(lines.slice(first, first + printed.length)).toEqual(printed)
    }
  })

  it('a run that ended during the outage has its outcome, and a live one fails with engine_lost', async () => {
    expect(await runOf(outage.runs['hangs up'])).toMatchObject({
      state: 'completed',
      outcome: { kind: 'caller_hung_up' },
    })
    const lost = { state: 'failed', outcome: { detail: 'engine_lost' } }
    for (const name of ['listens', 'answers late'] as const)
      expect(await runOf(outage.runs[name])).toMatchObject({ ...lost, phone_state: 'ended' })
    // The chat was live: its last message is answered only when the database is back.
    expect(await runOf(outage.runs.chat)).toMatchObject(lost)
    const transcript = await harness.client.runs.transcript({ params: { run_id: outage.runs.chat } })
    expect(transcript).toMatchObject({ state: 'partial' })
    expect(transcript.utterances.at(-1)).toMatchObject({ role: 'agent', text: ORDERED })
    expect(await harness.rows('select 1 from parley.run_ownership')).toEqual([])
    expect(await harness.rows('select 1 from parley.run_counters where live <> 0')).toEqual([])
  })

  it(
    'no call is placed or hung up twice, and no order is sent twice',
    async () => {
      expect(orderServer.orders).toBe(1)
      const calls = harness.carrier('udp').query().calls()
      expect(calls.map(({ opening }) => opening.called).sort()).toEqual([LISTENS, ANSWERS_LATE, HANGS_UP].sort())
      for (const { opening, rows } of calls) {
        const byes = rows.filter(({ kind }) => kind === 'bye-received').length
        // Only the journal had the dialog of the call that was answered during the outage.
        expect([opening.called, byes]).toEqual([opening.called, opening.called === HANGS_UP ? 0 : 1])
      }
      // The webhook of an ended run may still be in flight.
      const isSettled = async () => ((await unsettled()).length === 0 ? true : null)
      await pollUntil(SETTLE_TIMEOUT_MS, isSettled)
      expect(await unsettled()).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )

  it(
    'each run has one run.started and one run.ended, sent again only where the response was lost',
    async () => {
      const ids = (event: string, run_id: string) =>
        new Set(
          receiver.entries.flatMap(entry => (entry.event === event && entry.run_id === run_id ? entry.event_id : [])),
        )
      for (const name of RUNS)
        for (const event of ['run.started', 'run.ended']) {
          const run_id = outage.runs[name]
          await pollUntil(SETTLE_TIMEOUT_MS, async () => (ids(event, run_id).size > 0 ? true : null))
          expect([name, event, ids(event, run_id).size]).toEqual([name, event, 1])
        }
      const text = 'select run_id from parley.outbox group by run_id, event having count(*) > 1'
      expect(await harness.rows(text)).toEqual([])
      const late = outage.journals.find(({ run_id }) => run_id === outage.runs['answers late'])!
      expect(late.announces).toEqual(['run.started'])
      for (const [event_id, requests] of receiver.query().duplicates()) {
        // A sender that was killed or cut off before it could store the response: the effect of that send is uncertain.
        const uncertain = await harness.rows(
          "select 1 from parley.run_effects where effect_key like 'webhook/' || $1 || '/%' and state = 'uncertain'",
          [event_id],
        )
        expect(requests.length - 1, event_id).toBeLessThanOrEqual(uncertain.length)
      }
    },
    TEST_TIMEOUT_MS,
  )

  it('no journal is left, and no error about one is printed', async () => {
    expect(await readdir(join(harness.home, 'journal'))).toEqual([])
    expect(harness.api.output).not.toMatch(/^journal: /m)
  })
})
