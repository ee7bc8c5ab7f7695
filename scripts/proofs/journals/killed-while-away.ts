import type { WebhookReceiver } from '@parley/loadtest'
import type { TcpCut } from '@parley/store/testing'
import { Client } from 'pg'
import { describeItem } from '../../../packages/cli/src/event-lines.ts'
import type { CallHarness } from '../calls/call-harness.ts'
import { pollUntil } from '../calls/poll-until.ts'
import { type JournaledRun, journaledRunsIn } from './journals-on-disk.ts'
import { clerk, counter } from './outage-agents.ts'
import type { SlowOrderServer } from './slow-order-server.ts'

const PREFIX = '+1415557'
/** Answers at once and stays silent until the agent hangs up. */
export const LISTENS = `${PREFIX}1000`
/** Rings for 4 s and answers during the outage. */
export const ANSWERS_LATE = `${PREFIX}2000`
/** Hangs up during the outage. */
export const HANGS_UP = `${PREFIX}3000`
export const NUMBERS = [
  { number: LISTENS, behaviour: { do: 'answer', afterMs: 100 } },
  { number: ANSWERS_LATE, behaviour: { do: 'answer', afterMs: 4000 } },
  { number: HANGS_UP, behaviour: { do: 'answer', afterMs: 100, hangUpAfterMs: 12_000 } },
] as const

const STEP_TIMEOUT_MS = 60_000
/** Printed lines of each call that the outage must cover. */
const MIN_LINES = 8

interface OutageParts {
  readonly harness: CallHarness
  /** TCP relay between the platform and its database. */
  readonly relay: TcpCut
  readonly receiver: WebhookReceiver
  readonly orderServer: SlowOrderServer
  /** Owner's URL of the database, not through the relay. */
  readonly ownerUrl: string
}

/** The chat's confirmation of its order, during the outage. */
export const ORDERED = 'Your order has number seven.'

/** The runs, named by what their far ends do. */
export const RUNS = ['listens', 'answers late', 'hangs up', 'chat'] as const
type RunName = (typeof RUNS)[number]

export interface Outage {
  readonly runs: Readonly<Record<RunName, string>>
  /** The last lines that the platform printed for each call until shortly before the kill: its journal has them. */
  readonly printed: ReadonlyMap<string, readonly string[]>
  /** The journals as the killed process left them. */
  readonly journals: readonly JournaledRun[]
  /** Number of timeline items in the database at the start of the outage, by run. */
  readonly before: ReadonlyMap<string, number>
  /** Number of journals that were left when the second process was killed while it replayed them. */
  readonly leftBySecond: number
}

/**
 * Starts three calls and a chat and cuts the connections to the database. During the outage one call is answered, one ends,
 * and the chat's order is answered; then the platform is killed. After the outage a second process is killed while it replays
 * the journals, and a third one runs until all runs have ended.
 */
export async function killedWhileAway(parts: OutageParts): Promise<Outage> {
  const { harness, relay, orderServer } = parts
  await publish(parts)
  const runs = await begin(parts)
  relay.closed = true
  relay.cut()
  const before = await itemCounts(harness)
  const printedBefore = await printedBy(harness)
  orderServer.answer()
  const printedAtEnd = await duringOutage(parts, runs, printedBefore)
  // Only the end of the output is available, and errors about the database push older lines out.
  const printed = new Map([...(await printedBy(harness)), [runs['hangs up'], printedAtEnd]])
  await waitUntil('the printed lines in the journals', STEP_TIMEOUT_MS, () => areJournaled(harness, printed))
  await harness.api.kill()
  const journals = await journaledRunsIn(harness.home)
  const leftBySecond = await killedWhileReplaying(parts, journals)
  await harness.api.start()
  await harness.findApi()
  await waitUntil('the end of all runs', STEP_TIMEOUT_MS, async () => (await liveRuns(harness)) === 0)
  return { runs, printed, journals, before, leftBySecond }
}

async function publish({ harness, receiver, orderServer }: OutageParts): Promise<void> {
  const secret_id = 'hook'
  const body = { kind: 'webhook_signing', value: WEBHOOK_SECRET } as const
  const { version } = await harness.client.secrets.put({ params: { secret_id }, body })
  const events = ['run.started', 'run.transfer', 'run.ended'] as const
  const notification = { url: `${receiver.url}/hook`, secret: { id: secret_id, version }, events: [...events] }
  await harness.publish('counter', counter(notification), 'udp')
  await harness.publish('clerk', clerk(orderServer.origin, notification), 'udp')
}

export const WEBHOOK_SECRET = 'whsec-of-the-outage-proof-0123456789'

/** Starts the runs; resolves while the last call is ringing. */
async function begin({ harness, orderServer }: OutageParts): Promise<Outage['runs']> {
  const { client } = harness
  const call = async (to: string) =>
    (await client.runs.create({ body: { agent_id: 'counter', channel: 'phone', mode: 'outbound', to } })).run_id
  const is = (kind: string, number: string) =>
    harness.carrier('udp').row(row => row.kind === kind && row.called === number, STEP_TIMEOUT_MS)
  const listens = await call(LISTENS)
  await is('answered', LISTENS)
  const chat = (await client.runs.create({ body: { agent_id: 'clerk', channel: 'cloud', mode: 'chat' } })).run_id
  const transcript = () => client.runs.transcript({ params: { run_id: chat } })
  await waitUntil(
    'the first words of the chat',
    STEP_TIMEOUT_MS,
    async () => (await transcript()).utterances.length > 0,
  )
  // The request fails when the platform is killed.
  client.runs.message({ params: { run_id: chat }, body: { text: 'A soup, please.' } }).catch(() => {})
  await waitUntil('an order', STEP_TIMEOUT_MS, async () => orderServer.orders > 0)
  const hangsUp = await call(HANGS_UP)
  await is('answered', HANGS_UP)
  const late = await call(ANSWERS_LATE)
  await is('ringing', ANSWERS_LATE)
  return { listens, chat, 'hangs up': hangsUp, 'answers late': late }
}

/** Resolves when all events of the outage are journaled and printed; the lines of the call that ended. */
async function duringOutage(
  { harness }: OutageParts,
  runs: Outage['runs'],
  printedBefore: Outage['printed'],
): Promise<readonly string[]> {
  const hasJournal = async (run_id: string, isWanted: (journal: JournaledRun) => boolean) =>
    (await journaledRunsIn(harness.home)).some(journal => journal.run_id === run_id && isWanted(journal))
  await waitUntil('the order in the journal of the chat', STEP_TIMEOUT_MS, () =>
    hasJournal(runs.chat, ({ items }) => items.some(item => item.kind === 'utterance' && item.text === ORDERED)),
  )
  await waitUntil('the end of a call in its journal', STEP_TIMEOUT_MS, () =>
    hasJournal(runs['hangs up'], ({ ended }) => ended !== null),
  )
  const printedAtEnd = (await printedBy(harness)).get(runs['hangs up']) ?? []
  for (const run_id of [runs.listens, runs['answers late']])
    await waitUntil('new lines of a live call', STEP_TIMEOUT_MS, async () => {
      const old = new Set(printedBefore.get(run_id))
      const fresh = (await printedBy(harness)).get(run_id)?.filter(line => !old.has(line)) ?? []
      return fresh.length >= MIN_LINES
    })
  return printedAtEnd
}

/**
 * Starts the platform with its database and kills it while it replays the second journal, which an uncommitted row with
 * the same key blocks. Returns the number of journals that are left.
 */
async function killedWhileReplaying(
  { harness, relay, ownerUrl }: OutageParts,
  journals: readonly JournaledRun[],
): Promise<number> {
  const second = journals.filter(({ items }) => items.length > 1)[1]!
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
    // The process is killed before it is ready, so its start fails.
    const start = harness.api.start().catch(() => {})
    const text =
      "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'transactionid' and query like '%run_events%'"
    await waitUntil(
      'a statement that waits for the uncommitted row',
      STEP_TIMEOUT_MS,
      async () => (await harness.rows(text)).length > 0,
    )
    await harness.api.kill()
    await start
    await owner.query('rollback')
  } finally {
    await owner.end()
  }
  return (await journaledRunsIn(harness.home)).length
}

/** The last timeline lines that the platform printed, each with its call. */
function linesOf(harness: CallHarness): { readonly call: string; readonly line: string }[] {
  // The first and the last line may be incomplete.
  const whole = harness.api.output.split('\n').slice(1, -1)
  return whole.flatMap(text => {
    const [, call, line] = /^(\S{12}) {2}((?:agent|caller|->) .*)$/.exec(text) ?? []
    return call === undefined || line === undefined ? [] : [{ call, line }]
  })
}

/** Whether the journals have the last of the printed lines, and with it those before it. */
async function areJournaled(harness: CallHarness, printed: Outage['printed']): Promise<boolean> {
  const journals = await journaledRunsIn(harness.home)
  return [...printed].every(([run_id, lines]) => {
    const items = journals.find(journal => journal.run_id === run_id)?.items ?? []
    return linesIn(items.map(({ kind, ...fields }) => ({ kind, fields }))).includes(lines.at(-1)!)
  })
}

/** The same lines, made from a timeline. */
export function linesIn(rows: readonly Pick<TimelineRow, 'kind' | 'fields'>[]): string[] {
  return rows.flatMap(({ kind, fields }) => {
    const line = describeItem({ kind, ...fields } as Parameters<typeof describeItem>[0])
    return line !== null && /^(?:agent|caller|->) /.test(line) ? [line] : []
  })
}

interface TimelineRow {
  readonly seq: number
  readonly at: Date
  readonly kind: string
  readonly fields: Readonly<Record<string, unknown>>
}

export function timelineOf(harness: CallHarness, run_id: string): Promise<TimelineRow[]> {
  return harness.rows('select seq, at, kind, fields from parley.run_events where run_id = $1 order by seq', [run_id])
}

async function printedBy(harness: CallHarness): Promise<Map<string, string[]>> {
  const lines = linesOf(harness)
  const calls = await callIds(harness)
  return new Map(
    [...calls].map(([run_id, id]) => [run_id, lines.filter(({ call }) => call === id).map(({ line }) => line)]),
  )
}

/** The prefix of each dialled call's printed lines, by run. */
async function callIds(harness: CallHarness): Promise<Map<string, string>> {
  const text = "select run_id, dial ->> 'callId' as call from parley.runs where dial is not null"
  const rows = await harness.rows<{ run_id: string; call: string }>(text)
  return new Map(rows.map(({ run_id, call }) => [run_id, call.slice(0, 12)]))
}

async function itemCounts(harness: CallHarness): Promise<Map<string, number>> {
  const text = 'select run_id, count(*)::int as items from parley.run_events group by run_id'
  const rows = await harness.rows<{ run_id: string; items: number }>(text)
  return new Map(rows.map(({ run_id, items }) => [run_id, items]))
}

async function liveRuns(harness: CallHarness): Promise<number> {
  return (await harness.rows('select 1 from parley.runs where ended_at is null')).length
}

async function waitUntil(what: string, withinMs: number, condition: () => Promise<boolean>): Promise<void> {
  if ((await pollUntil(withinMs, async () => ((await condition()) ? true : null))) === null)
    throw new Error(`waited ${withinMs} ms in vain for ${what}`)
}
