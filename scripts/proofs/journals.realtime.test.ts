import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { WebhookReceiver } from '@parley/loadtest'
import { type TcpCut, type TestDatabase, tcpCut, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CallHarness, within } from './calls/call-harness.ts'
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

/** As three times renewed, so that a lost run is not waited for so long. */
const LEASE_MS = '3000'
const SOON_MS = 60_000

describe('a platform that is killed while its database is away, and once more while it catches up', () => {
  let test: TestDatabase
  let relay: TcpCut
  let receiver: WebhookReceiver
  let shop: SlowOrderServer
  let harness: CallHarness
  let outage: Outage

  beforeAll(async () => {
    test = await testDatabase()
    const url = new URL(test.owner.url)
    relay = await tcpCut(Number(url.port))
    url.port = String(relay.port)
    receiver = await WebhookReceiver.open({ secrets: [WEBHOOK_SECRET] })
    shop = await openSlowOrderServer()
    harness = await CallHarness.open({
      processes: ['api,worker,engine'],
      numbers: NUMBERS,
      lines: ['udp'],
      database: { url: url.href, ownerUrl: test.owner.url },
      env: {
        PARLEY_LEASE_MS: LEASE_MS,
        PARLEY_EGRESS_ALLOW: [receiver.url, shop.origin].map(to => new URL(to).host).join(','),
      },
    })
    outage = await killedWhileAway({ harness, relay, receiver, shop, ownerUrl: test.owner.url })
  }, 300_000)

  afterAll(async () => {
    await harness?.close()
    await shop?.close()
    await receiver?.close()
    await relay?.close()
    await test?.close()
  }, 120_000)

  const runOf = async (run_id: string) => {
    const text = 'select state, phone_state, outcome from parley.runs where run_id = $1'
    return (await harness.rows<{ state: string; phone_state: string | null; outcome: object }>(text, [run_id]))[0]
  }

  const unsettled = () =>
    harness.rows(`select r.to_number, r.state as run_state, e.effect_kind, e.send_attempts, e.state, e.created_at
      from parley.run_effects e join parley.runs r using (run_id) where e.state in ('intended', 'sending')`)

  it('had journals of all its runs, some of which the second process landed', () => {
    expect(outage.kept.map(({ run_id }) => run_id).sort()).toEqual(RUNS.map(name => outage.runs[name]).sort())
    expect(outage.leftBySecond).toBeGreaterThan(0)
    expect(outage.leftBySecond).toBeLessThan(RUNS.length)
  })

  it.each(RUNS)('has all that was kept of a run in its timeline, in order and once: %s', async name => {
    const run_id = outage.runs[name]
    const rows = await timelineOf(harness, run_id)
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
    const { last_seq, items } = outage.kept.find(kept => kept.run_id === run_id)!
    expect(last_seq).toBeLessThanOrEqual(outage.before.get(run_id)!)
    const landed = rows.slice(last_seq, last_seq + items.length)
    expect(landed.map(({ kind, at }) => [kind, at.toISOString()])).toEqual(items.map(({ kind, at }) => [kind, at]))
    // What follows is its end, and who died.
    expect(rows.slice(last_seq + items.length).filter(({ kind }) => kind !== 'error' && kind !== 'state')).toEqual([])
  })

  it('has what it told of its calls until shortly before it was killed', async () => {
    for (const name of ['listens', 'answers late', 'hangs up'] as const) {
      const told = outage.told.get(outage.runs[name])!
      expect(told.length).toBeGreaterThan(5)
      const lines = linesIn(await timelineOf(harness, outage.runs[name]))
      const first = lines.indexOf(told[0]!)
      expect(lines.slice(first, first + told.length)).toEqual(told)
    }
  })

  it('ends what was over as it ended, and what was alive as lost', async () => {
    expect(await runOf(outage.runs['hangs up'])).toMatchObject({
      state: 'completed',
      outcome: { kind: 'caller_hung_up' },
    })
    const lost = { state: 'failed', outcome: { detail: 'engine_lost' } }
    for (const name of ['listens', 'answers late'] as const)
      expect(await runOf(outage.runs[name])).toMatchObject({ ...lost, phone_state: 'ended' })
    // Its last message is not answered before the database is there: it was not over.
    expect(await runOf(outage.runs.chat)).toMatchObject(lost)
    const transcript = await harness.client.runs.transcript({ params: { run_id: outage.runs.chat } })
    expect(transcript).toMatchObject({ state: 'partial' })
    expect(transcript.utterances.at(-1)).toMatchObject({ role: 'agent', text: ORDERED })
    expect(await harness.rows('select 1 from parley.run_ownership')).toEqual([])
    expect(await harness.rows('select 1 from parley.run_counters where live <> 0')).toEqual([])
  })

  it('does nothing twice: nobody is called, hung up or asked again', async () => {
    expect(shop.orders).toBe(1)
    const calls = harness.carrier('udp').query().calls()
    expect(calls.map(({ opening }) => opening.called).sort()).toEqual([LISTENS, ANSWERS_LATE, HANGS_UP].sort())
    for (const { opening, rows } of calls) {
      const byes = rows.filter(({ kind }) => kind === 'bye-received').length
      // Of the call that was answered while the database was away nothing but the journal knew the dialog.
      expect([opening.called, byes]).toEqual([opening.called, opening.called === HANGS_UP ? 0 : 1])
    }
    // A webhook that tells of an end may be under way.
    const isSettled = async () => ((await unsettled()).length === 0 ? true : null)
    await within(SOON_MS, isSettled)
    expect(await unsettled()).toEqual([])
  })

  it('announces the begin and the end of each run once', async () => {
    const ids = (event: string, run_id: string) =>
      new Set(
        receiver.entries.flatMap(entry => (entry.event === event && entry.run_id === run_id ? entry.event_id : [])),
      )
    for (const name of RUNS)
      for (const event of ['run.started', 'run.ended']) {
        const run_id = outage.runs[name]
        await within(SOON_MS, async () => (ids(event, run_id).size > 0 ? true : null))
        expect([name, event, ids(event, run_id).size]).toEqual([name, event, 1])
      }
    const text = 'select run_id from parley.outbox group by run_id, event having count(*) > 1'
    expect(await harness.rows(text)).toEqual([])
    const late = outage.kept.find(({ run_id }) => run_id === outage.runs['answers late'])!
    expect(late.announces).toEqual(['run.started'])
    expect([...receiver.query().duplicates().keys()]).toEqual([])
  })

  it('leaves no journal, and complains of none', async () => {
    expect(await readdir(join(harness.home, 'journal'))).toEqual([])
    expect(harness.api.output).not.toMatch(/^journal: /m)
  })
})
