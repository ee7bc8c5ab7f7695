import { setTimeout as pause } from 'node:timers/promises'
import type { WebhookReceiver } from '@parley/loadtest'
import type { TcpCut } from '@parley/store/testing'
import { Client } from 'pg'
import { describeItem } from '../../../packages/cli/src/event-lines.ts'
import { type CallHarness, within } from '../calls/call-harness.ts'
import { type JournaledRun, journaledRunsIn } from './journals-on-disk.ts'
import { clerk, counter } from './outage-agents.ts'
import type { SlowOrderServer } from './slow-order-server.ts'

const PREFIX = '+1415557'
/** Answers at once, and listens until it is hung up. */
export const LISTENS = `${PREFIX}1000`
/** Rings first: the database is gone when it answers. */
export const ANSWERS_LATE = `${PREFIX}2000`
/** Hangs up while the database is away. */
export const HANGS_UP = `${PREFIX}3000`
export const NUMBERS = [
  { number: LISTENS, behaviour: { do: 'answer', afterMs: 100 } },
  { number: ANSWERS_LATE, behaviour: { do: 'answer', afterMs: 4000 } },
  { number: HANGS_UP, behaviour: { do: 'answer', afterMs: 100, hangUpAfterMs: 12_000 } },
] as const

const SOON_MS = 60_000
/** What was told so long before the kill is on disk. It is written every half second: this is for a slow machine. */
const KEPT_AFTER_MS = 2000
/** Lines of each call while the database is away. */
const ENOUGH_LINES = 8

export interface OutageParts {
  readonly harness: CallHarness
  /** Between the platform and its database. */
  readonly relay: TcpCut
  readonly receiver: WebhookReceiver
  readonly shop: SlowOrderServer
  /** Owner's URL of the database, past the relay. */
  readonly ownerUrl: string
}

/** What the chat says of its order: not before the database is away. */
export const ORDERED = 'Your order has number seven.'

/** By what became of them. */
export const RUNS = ['listens', 'answers late', 'hangs up', 'chat'] as const
export type RunName = (typeof RUNS)[number]

export interface Outage {
  readonly runs: Readonly<Record<RunName, string>>
  /** The last of what the platform said of each call until {@link KEPT_AFTER_MS} before it was killed. */
  readonly told: ReadonlyMap<string, readonly string[]>
  /** The journals as the killed process left them. */
  readonly kept: readonly JournaledRun[]
  /** Of the runs that were in the database when it went, by run. */
  readonly before: ReadonlyMap<string, number>
  /** How many journals there were when the second process was killed, which was landing them. */
  readonly leftBySecond: number
}

/**
 * Three calls and a chat live; the database goes away; one call is answered then, one ends, the chat's order is answered;
 * the platform is killed. The database is back: a second process begins to land the journals, and is
 * killed in the middle of it. A third one goes on until all runs are over.
 */
export async function killedWhileAway(parts: OutageParts): Promise<Outage> {
  const { harness, relay, shop } = parts
  await publish(parts)
  const runs = await begin(parts)
  relay.closed = true
  relay.cut()
  const before = await itemsThere(harness)
  const toldBefore = await toldBy(harness)
  shop.answer()
  const toldAtEnd = await whileAway(parts, runs, toldBefore)
  // Only the last of its output is kept, and a database that is away is complained of.
  const told = new Map([...(await toldBy(harness)), [runs['hangs up'], toldAtEnd]])
  await pause(KEPT_AFTER_MS)
  await harness.api.kill()
  const kept = await journaledRunsIn(harness.home)
  const leftBySecond = await killedWhileLanding(parts, kept)
  await harness.api.start()
  await harness.findApi()
  await wanted('an end of all runs', SOON_MS, async () => (await livingRuns(harness)) === 0)
  return { runs, told, kept, before, leftBySecond }
}

async function publish({ harness, receiver, shop }: OutageParts): Promise<void> {
  const secret_id = 'hook'
  const body = { kind: 'webhook_signing', value: WEBHOOK_SECRET } as const
  const { version } = await harness.client.secrets.put({ params: { secret_id }, body })
  const events = ['run.started', 'run.transfer', 'run.ended'] as const
  const notification = { url: `${receiver.url}/hook`, secret: { id: secret_id, version }, events: [...events] }
  await harness.publish('counter', counter(notification), 'udp')
  await harness.publish('clerk', clerk(shop.origin, notification), 'udp')
}

export const WEBHOOK_SECRET = 'whsec-of-the-outage-proof-0123456789'

/** Resolves while the last of the calls is ringing. */
async function begin({ harness, shop }: OutageParts): Promise<Outage['runs']> {
  const { client } = harness
  const call = async (to: string) =>
    (await client.runs.create({ body: { agent_id: 'counter', channel: 'phone', mode: 'outbound', to } })).run_id
  const is = (kind: string, number: string) =>
    harness.carrier('udp').row(row => row.kind === kind && row.called === number, SOON_MS)
  const listens = await call(LISTENS)
  await is('answered', LISTENS)
  const chat = (await client.runs.create({ body: { agent_id: 'clerk', channel: 'cloud', mode: 'chat' } })).run_id
  const transcript = () => client.runs.transcript({ params: { run_id: chat } })
  await wanted('the first words of the chat', SOON_MS, async () => (await transcript()).utterances.length > 0)
  // It is answered when the platform is no more.
  client.runs.message({ params: { run_id: chat }, body: { text: 'A soup, please.' } }).catch(() => {})
  await wanted('an order', SOON_MS, async () => shop.orders > 0)
  const hangsUp = await call(HANGS_UP)
  await is('answered', HANGS_UP)
  const late = await call(ANSWERS_LATE)
  await is('ringing', ANSWERS_LATE)
  return { listens, chat, 'hangs up': hangsUp, 'answers late': late }
}

/** Resolves when all that is to happen has happened, and was told, with what was told of the call that ended. */
async function whileAway(
  { harness }: OutageParts,
  runs: Outage['runs'],
  toldBefore: Outage['told'],
): Promise<readonly string[]> {
  const isKept = async (run_id: string, isWanted: (kept: JournaledRun) => boolean) =>
    (await journaledRunsIn(harness.home)).some(kept => kept.run_id === run_id && isWanted(kept))
  await wanted('the order in the journal of the chat', SOON_MS, () =>
    isKept(runs.chat, ({ items }) => items.some(item => item.kind === 'utterance' && item.text === ORDERED)),
  )
  await wanted('the end of a call in its journal', SOON_MS, () =>
    isKept(runs['hangs up'], ({ ended }) => ended !== null),
  )
  const toldAtEnd = (await toldBy(harness)).get(runs['hangs up']) ?? []
  for (const run_id of [runs.listens, runs['answers late']])
    await wanted('news of a call that lives', SOON_MS, async () => {
      const old = new Set(toldBefore.get(run_id))
      const news = (await toldBy(harness)).get(run_id)?.filter(line => !old.has(line)) ?? []
      return news.length >= ENOUGH_LINES
    })
  return toldAtEnd
}

/**
 * Starts the platform with its database and kills it while it writes the second journal: an item of ours stands in its way,
 * and goes again. Answers how many journals are left.
 */
async function killedWhileLanding(
  { harness, relay, ownerUrl }: OutageParts,
  kept: readonly JournaledRun[],
): Promise<number> {
  const second = kept.filter(({ items }) => items.length > 1)[1]!
  const owner = new Client({ connectionString: ownerUrl })
  owner.on('error', () => {})
  await owner.connect()
  try {
    await owner.query('begin')
    await owner.query(
      `insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields)
       select tenant_id, run_id, $2, now(), 'obstacle', '{}' from parley.runs where run_id = $1`,
      [second.run_id, second.last_seq + second.items.length],
    )
    relay.closed = false
    // Killed before it is ready.
    const start = harness.api.start().catch(() => {})
    const text =
      "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'transactionid' and query like '%run_events%'"
    await wanted('somebody who waits for the obstacle', SOON_MS, async () => (await harness.rows(text)).length > 0)
    await harness.api.kill()
    await start
    await owner.query('rollback')
  } finally {
    await owner.end()
  }
  return (await journaledRunsIn(harness.home)).length
}

/** Lines of the timeline that the platform wrote of each call, as people read them: the last ones. */
function linesOf(harness: CallHarness): { readonly call: string; readonly line: string }[] {
  const [, ...whole] = harness.api.output.split('\n')
  return whole.flatMap(text => {
    const [, call, line] = /^(\S{12}) {2}((?:agent|caller|->) .*)$/.exec(text) ?? []
    return call === undefined || line === undefined ? [] : [{ call, line }]
  })
}

/** The same lines out of a timeline as it is stored. */
export function linesIn(rows: readonly TimelineRow[]): string[] {
  return rows.flatMap(({ kind, fields }) => {
    const line = describeItem({ kind, ...fields } as Parameters<typeof describeItem>[0])
    return line !== null && /^(?:agent|caller|->) /.test(line) ? [line] : []
  })
}

export interface TimelineRow {
  readonly seq: number
  readonly at: Date
  readonly kind: string
  readonly fields: Readonly<Record<string, unknown>>
}

export function timelineOf(harness: CallHarness, run_id: string): Promise<TimelineRow[]> {
  return harness.rows('select seq, at, kind, fields from parley.run_events where run_id = $1 order by seq', [run_id])
}

async function toldBy(harness: CallHarness): Promise<Map<string, string[]>> {
  const lines = linesOf(harness)
  const calls = await callIds(harness)
  return new Map(
    [...calls].map(([run_id, id]) => [run_id, lines.filter(({ call }) => call === id).map(({ line }) => line)]),
  )
}

/** Of calls that were dialled, as the platform's lines begin, by run. */
async function callIds(harness: CallHarness): Promise<Map<string, string>> {
  const text = "select run_id, dial ->> 'callId' as call from parley.runs where dial is not null"
  const rows = await harness.rows<{ run_id: string; call: string }>(text)
  return new Map(rows.map(({ run_id, call }) => [run_id, call.slice(0, 12)]))
}

async function itemsThere(harness: CallHarness): Promise<Map<string, number>> {
  const text = 'select run_id, count(*)::int as items from parley.run_events group by run_id'
  const rows = await harness.rows<{ run_id: string; items: number }>(text)
  return new Map(rows.map(({ run_id, items }) => [run_id, items]))
}

async function livingRuns(harness: CallHarness): Promise<number> {
  return (await harness.rows('select 1 from parley.runs where ended_at is null')).length
}

async function wanted(what: string, withinMs: number, isThere: () => Promise<boolean>): Promise<void> {
  if ((await within(withinMs, async () => ((await isThere()) ? true : null))) === null)
    throw new Error(`there was never ${what}`)
}
