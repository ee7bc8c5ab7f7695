import { setTimeout as pause } from 'node:timers/promises'
import type { CarrierLedgerEntry } from '@parley/loadtest'
import { CALLS_PER_SECOND } from '@parley/store'
import type { Part } from './agents.ts'
import { CALLED, type CallStand, type Line, within } from './call-stand.ts'
import { type KillCase, MOMENTS, type Moment } from './kill-case.ts'

const MOMENT_WITHIN_MS = 30_000
const TAKEN_AGAIN_WITHIN_MS = 20_000
/** Beyond what is asked for, to tell late from never. */
const GRACE_MS = 5000
/** Calls a second: the second of two waits for five seconds. */
const SLOW_TRUNK = 0.2

export interface KillOptions {
  /** Within which a run has to be over, ms. */
  readonly overWithinMs: number
  readonly planted: PlantedKillFault
}

/** What the proof must notice. `engine dials again`: the run is offered as if nobody had ever called. */
export type PlantedKillFault = 'nothing' | 'nobody reaps' | 'engine dials again'

export interface TrialRun {
  readonly run_id: string
  readonly state: string
  readonly phone_state: string | null
  readonly ended_at: Date | null
}

export interface Killed {
  /** Null: the moment never came. */
  readonly run: TrialRun | null
  /** Wall clock, ms. */
  readonly killedAt: number
  /** When the carrier saw it answered, wall clock. */
  readonly answeredAt: number | null
  /** Effects that were being sent when it died. */
  readonly sending: readonly string[]
  /** Whether nobody had been called: then another engine may have the run. */
  readonly wasReleased: boolean
}

/** Brings a call to its moment, kills the engine, and waits until the run is over and an engine is there again. */
export async function killEngine(stand: CallStand, kill: KillCase, options: KillOptions): Promise<Killed> {
  await begin(stand, kill)
  const isThere = await moment(stand, kill)
  if (isThere) await pause(kill.delayMs)
  const killedAt = Date.now()
  await stand.engine.kill()
  const found = isThere ? await runOf(stand, kill) : null
  if (found === null) {
    await stand.engine.start()
    return { run: null, killedAt, answeredAt: null, sending: [], wasReleased: false }
  }
  const sending = await effectsIn(stand, found.run_id, 'sending')
  const carrierRow = (kind: CarrierLedgerEntry['kind']) =>
    stand
      .carrier(kill.line)
      .rows()
      .find(row => row.kind === kind && isOf(kill, row))
  const wasReleased = carrierRow('challenged') === undefined && carrierRow('invite') === undefined
  const answeredAt = carrierRow('answered')?.wall_ms ?? null
  const planted = options.planted === 'engine dials again'
  if (planted) await offerAgain(stand, found.run_id)
  const restarted = kill.restartsAtOnce ? stand.engine.start() : null
  if (!planted) await over(stand, options.overWithinMs + GRACE_MS)
  await (restarted ?? stand.engine.start())
  if (wasReleased || planted) await callTakenAgain(stand, kill, found.run_id)
  const run = await runOf(stand, kill)
  return { run, killedAt, answeredAt, sending, wasReleased }
}

async function begin(stand: CallStand, kill: KillCase): Promise<void> {
  const { moment, line, number } = kill
  const { direction, part } = MOMENTS[moment]
  const agent_id = agentOf(part, line)
  if (direction === 'inbound') {
    await stand.assign(line, agent_id)
    stand.carrier(line).call({ uri: stand.inboundUri(line), from: number, called: CALLED[line] })
    return
  }
  const outbound = { agent_id, channel: 'phone', mode: 'outbound' } as const
  if (moment === 'before the INVITE leaves') {
    // Another call takes the trunk's turn, and this one has to wait for the next.
    await stand.setCallsPerSecond(line, SLOW_TRUNK)
    await stand.client.runs.create({ body: { ...outbound, to: otherNumber(kill) } })
  }
  await stand.client.runs.create({ body: { ...outbound, to: number } })
}

export function agentOf(part: Part, line: Line): string {
  return `${part}-${line}`
}

/** Whom the call that goes first calls. */
export function otherNumber({ number }: KillCase): string {
  return `${number.slice(0, -4)}0${number.slice(-3)}`
}

/** Resolves when the carrier saw that the moment is there; false: it never came. */
async function moment(stand: CallStand, kill: KillCase): Promise<boolean> {
  const wanted = SIGNS[kill.moment]
  const carrier = stand.carrier(kill.line)
  const isBefore = kill.moment === 'before the INVITE leaves'
  const isMine = (row: CarrierLedgerEntry) => (isBefore ? row.called === otherNumber(kill) : isOf(kill, row))
  return (await carrier.row(row => row.kind === wanted && isMine(row), MOMENT_WITHIN_MS)) !== null
}

const SIGNS: Readonly<Record<Moment, CarrierLedgerEntry['kind']>> = {
  'before the INVITE leaves': 'invite',
  dialling: 'invite',
  'dialling a carrier that is silent': 'invite',
  ringing: 'ringing',
  'just answered': 'answered',
  'in conversation': 'answered',
  'in a transfer': 'refer-received',
  'while hanging up': 'bye-received',
  'inbound, just answered': 'answered',
  'inbound, in conversation': 'answered',
  'inbound, in a transfer': 'refer-received',
}

export function isOf({ moment, number }: KillCase, { from, called, direction }: CarrierLedgerEntry): boolean {
  return MOMENTS[moment].direction === 'outbound'
    ? direction === 'to-carrier' && called === number
    : direction === 'from-carrier' && from.includes(number)
}

async function runOf(stand: CallStand, { moment, number }: KillCase): Promise<TrialRun | null> {
  const column = MOMENTS[moment].direction === 'outbound' ? 'to_number' : 'from_number'
  const found = await stand.rows<TrialRun>(
    `select run_id, state, phone_state, ended_at from parley.runs where ${column} = $1 order by created_at`,
    [number],
  )
  return found.at(-1) ?? null
}

export async function effectsIn(stand: CallStand, run_id: string, state: string): Promise<string[]> {
  const text = 'select effect_id from parley.run_effects where run_id = $1 and state = $2'
  return (await stand.rows<{ effect_id: string }>(text, [run_id, state])).map(({ effect_id }) => effect_id)
}

/** No run has a permit any more, but for those that wait for an engine. */
async function over(stand: CallStand, withinMs: number): Promise<void> {
  const text =
    "select 1 from parley.run_ownership o join parley.runs r using (tenant_id, run_id) where r.state <> 'admitted'"
  await within(withinMs, async () => ((await stand.rows(text)).length === 0 ? true : null))
}

/** Another engine takes the run and calls; then it is cancelled. */
async function callTakenAgain(stand: CallStand, kill: KillCase, run_id: string): Promise<void> {
  const restartedAt = Date.now()
  const carrier = stand.carrier(kill.line)
  await carrier.row(
    row => row.kind === 'answered' && isOf(kill, row) && row.wall_ms > restartedAt,
    TAKEN_AGAIN_WITHIN_MS,
  )
  await stand.setCallsPerSecond(kill.line, CALLS_PER_SECOND)
  await stand.client.runs.cancel({ params: { run_id }, body: {} })
  await over(stand, TAKEN_AGAIN_WITHIN_MS)
}

/** As if nobody had ever had the run: the planted fault. */
async function offerAgain(stand: CallStand, run_id: string): Promise<void> {
  await stand.rows(
    "update parley.runs set state = 'admitted', phone_state = 'admitted', dial = null, dialog = null, invite_sent_at = null where run_id = $1",
    [run_id],
  )
  await stand.rows(
    "update parley.run_ownership set engine = null, worker = null, lease_until = null, start_before = now() + interval '1 minute' where run_id = $1",
    [run_id],
  )
}
