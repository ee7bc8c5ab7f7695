import { setTimeout as pause } from 'node:timers/promises'
import type { CarrierLedgerEntry } from '@parley/loadtest'
import { CALLS_PER_SECOND } from '@parley/store/testing'
import type { ProofAgent } from './agents.ts'
import type { CallHarness } from './call-harness.ts'
import { CALLED, type Line, trunkOf } from './carrier-lines.ts'
import type { EngineFleet } from './engine-fleet.ts'
import type { HarnessEngine } from './harness-processes.ts'
import { type KillCase, MOMENTS, type Moment } from './kill-case.ts'
import { pollUntil } from './poll-until.ts'

const MOMENT_TIMEOUT_MS = 90_000
const TAKEOVER_TIMEOUT_MS = 30_000
/** Extra wait, to distinguish a late end from none. */
const GRACE_MS = 5000
/** 64*T1 (RFC 3261 section 13.3.1.4). */
export const UNACKNOWLEDGED_MS = 32_000
/** The ACK waits this long for the dialog to be stored, then it is sent all the same (decision 0028). */
const ACK_WAITS_MS = 2000
const CLOCK_ERROR_MS = 20
/** Calls per second of a trunk whose next call waits for 50 s. */
const SLOW_CALLS_PER_SECOND = 0.02

export interface KillOptions {
  /** The run of a killed engine must end within this time, ms. */
  readonly overWithinMs: number
}

interface TrialRun {
  readonly run_id: string
  readonly state: string
  readonly phone_state: string | null
  readonly ended_at: Date | null
}

export interface Killed {
  /** The run at the kill; null: the moment did not occur. */
  readonly run: TrialRun | null
  /** Wall clock, ms. */
  readonly killedAt: number
  /** When the carrier answered the call, wall clock, ms. */
  readonly answeredAt: number | null
  /** Effects in the state `sending` at the kill. */
  readonly sending: readonly string[]
  /** Whether no INVITE had been sent, so that another engine may take the run. */
  readonly wasReleased: boolean
  /**
   * False: the moment did not occur, the planted second call was not placed, or the engine sent the ACK before anything had stored
   * the dialog.
   */
  readonly isAsMeant: boolean
}

/** A call and the engine that owns it. */
interface OwnedCall {
  readonly run: TrialRun
  readonly engine: HarnessEngine
  /** Releases the lock on the run's row; null: it is not locked. */
  readonly release: (() => Promise<void>) | null
}

/** Brings a call to its moment and kills the engine that owns it; the fleet then restarts the engine. One call at a time. */
export async function killEngine(harness: CallHarness, fleet: EngineFleet, kill: KillCase): Promise<Killed> {
  const isSlowed = kill.moment === 'before the INVITE leaves'
  if (isSlowed) await setTurns(harness, kill.line, SLOW_CALLS_PER_SECOND, 'infinity')
  const call = await begin(harness, fleet, kill)
  if (call === null)
    return { run: null, killedAt: Date.now(), answeredAt: null, sending: [], wasReleased: false, isAsMeant: false }
  const { run_id } = call.run
  const hasLongLease = kill.planted === 'no reaper'
  if (hasLongLease) await leaseFor(harness, run_id, '1 hour')
  const killedAt = Date.now()
  await fleet.kill(call.engine)
  await call.release?.()
  if (kill.planted === 'the dialog is lost') await loseDialog(harness, run_id)
  // Repeated, because the engine may have renewed the lease before the kill.
  if (hasLongLease) await leaseFor(harness, run_id, '1 hour')
  const sending = await effectsIn(harness, run_id, 'sending')
  const carrierRow = (kind: CarrierLedgerEntry['kind']) =>
    harness
      .carrier(kill.line)
      .rows()
      .find(row => row.kind === kind && isOf(kill, row))
  const wasReleased = carrierRow('challenged') === undefined && carrierRow('invite') === undefined
  const answeredAt = carrierRow('answered')?.wall_ms ?? null
  const acknowledgedAt = carrierRow('acknowledged')?.wall_ms ?? null
  const isStored =
    answeredAt === null || acknowledgedAt === null || acknowledgedAt - answeredAt < ACK_WAITS_MS - CLOCK_ERROR_MS
  const isOffered = kill.planted === 'engine dials again'
  if (isOffered) await offerAgain(harness, run_id)
  if (isSlowed) await setTurns(harness, kill.line, CALLS_PER_SECOND, '-infinity')
  // Wait here, so that the next kill does not hit the engine that takes the run.
  const isTaken = (isOffered || wasReleased) && (await waitForTakeover(harness, kill, killedAt, run_id))
  return { run: call.run, killedAt, answeredAt, sending, wasReleased, isAsMeant: isStored && (!isOffered || isTaken) }
}

/** Cancels the run of a case whose moment did not occur. */
export async function abandon(harness: CallHarness, kill: KillCase): Promise<void> {
  const run = await runOf(harness, kill)
  if (run !== null && run.ended_at === null)
    await harness.client.runs.cancel({ params: { run_id: run.run_id }, body: {} })
}

/** Resolves when the run has ended or its time is over. Any number may run at a time. */
export async function runOver(
  harness: CallHarness,
  kill: KillCase,
  killed: Killed,
  options: KillOptions,
): Promise<Killed> {
  if (killed.run === null) return killed
  const { run_id } = killed.run
  await waitForEnd(harness, run_id, killed.killedAt + options.overWithinMs + GRACE_MS - Date.now())
  await waitForFarEnd(harness, kill)
  return { ...killed, run: await runOf(harness, kill) }
}

/** Waits until a far end whose answer was not acknowledged ends the call by itself. */
async function waitForFarEnd(harness: CallHarness, kill: KillCase): Promise<void> {
  const carrier = harness.carrier(kill.line)
  const rowsOf = () => carrier.rows().filter(row => isOf(kill, row))
  const answered = rowsOf().find(({ kind }) => kind === 'answered')
  if (answered === undefined || rowsOf().some(({ kind }) => kind === 'acknowledged')) return
  const isBye = (row: CarrierLedgerEntry) => isOf(kill, row) && (row.kind === 'bye-sent' || row.kind === 'bye-received')
  await carrier.row(isBye, answered.wall_ms + UNACKNOWLEDGED_MS + GRACE_MS - Date.now())
}

/** Ends the prolonged lease of a run, so that it is reaped. */
export async function cleanUp(harness: CallHarness, kill: KillCase, { run }: Killed): Promise<void> {
  if (kill.planted === 'no reaper' && run !== null) await leaseFor(harness, run.run_id, '0')
}

/** Starts the call and waits for its moment. Null: the moment did not occur. */
async function begin(harness: CallHarness, fleet: EngineFleet, kill: KillCase): Promise<OwnedCall | null> {
  const { moment, line, number } = kill
  const { direction, part } = MOMENTS[moment]
  const agent_id = agentOf(part, line)
  const carrier = harness.carrier(line)
  const waitForRow = (isWanted: (row: CarrierLedgerEntry) => boolean) => carrier.row(isWanted, MOMENT_TIMEOUT_MS)
  const showsMoment = (row: CarrierLedgerEntry) => row.kind === LEDGER_KINDS[moment] && isOf(kill, row)
  let engine: HarnessEngine | null = await fleet.any()
  let release: OwnedCall['release'] = null
  let shownAt: number
  if (direction === 'inbound') {
    await harness.assign(line, agent_id)
    carrier.call({ uri: harness.inboundUri(line, engine), from: number, called: CALLED[line] })
    if ((await waitForRow(showsMoment)) === null) return null
    shownAt = performance.now()
  } else {
    const outbound = { agent_id, channel: 'phone', mode: 'outbound' } as const
    const { run_id } = await harness.client.runs.create({ body: { ...outbound, to: number } })
    if (moment === 'answered, not acknowledged' || moment === 'just acknowledged') {
      if ((await waitForRow(row => row.kind === 'invite' && isOf(kill, row))) === null) return null
      release = await harness.hold(run_id)
    }
    // For moments without a message at the carrier, the moment begins when an engine owns the run.
    if (LEDGER_KINDS[moment] !== null && (await waitForRow(showsMoment)) === null) {
      await release?.()
      return null
    }
    shownAt = performance.now()
    engine = await fleet.ownerOf(run_id)
  }
  const run = await runOf(harness, kill)
  await pause(Math.max(0, shownAt + kill.delayMs - performance.now()))
  if (run !== null && engine !== null) return { run, engine, release }
  await release?.()
  return null
}

export function agentOf(part: ProofAgent, line: Line): string {
  return `${part}-${line}`
}

/** Sets the calls per second of the trunk, and the time of the next call. */
async function setTurns(harness: CallHarness, line: Line, cps: number, next: '-infinity' | 'infinity'): Promise<void> {
  await harness.setCallsPerSecond(line, cps)
  await harness.rows(
    'insert into parley.trunk_slots (tenant_id, trunk_id, next_at) select tenant_id, trunk_id, $2::timestamptz from parley.trunks where trunk_id = $1 on conflict (tenant_id, trunk_id) do update set next_at = excluded.next_at',
    [trunkOf(line), next],
  )
}

/** Ledger entry of the carrier that shows the moment; null: there is none. */
const LEDGER_KINDS: Readonly<Record<Moment, CarrierLedgerEntry['kind'] | null>> = {
  'before the INVITE leaves': null,
  dialling: 'invite',
  'dialling a carrier that is silent': 'invite',
  ringing: 'ringing',
  'just answered': 'answered',
  'answered, not acknowledged': 'answered',
  'just acknowledged': 'acknowledged',
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

async function runOf(harness: CallHarness, { moment, number }: KillCase): Promise<TrialRun | null> {
  const column = MOMENTS[moment].direction === 'outbound' ? 'to_number' : 'from_number'
  const found = await harness.rows<TrialRun>(
    `select run_id, state, phone_state, ended_at from parley.runs where ${column} = $1 order by created_at`,
    [number],
  )
  return found.at(-1) ?? null
}

export async function effectsIn(harness: CallHarness, run_id: string, state: string): Promise<string[]> {
  const text = 'select effect_id from parley.run_effects where run_id = $1 and state = $2'
  return (await harness.rows<{ effect_id: string }>(text, [run_id, state])).map(({ effect_id }) => effect_id)
}

/** Resolves when the run holds no permit, or after `withinMs`. */
async function waitForEnd(harness: CallHarness, run_id: string, withinMs: number): Promise<void> {
  await pollUntil(withinMs, async () => ((await hasPermit(harness, run_id)) ? null : true))
}

export async function hasPermit(harness: CallHarness, run_id: string): Promise<boolean> {
  return (await harness.rows('select 1 from parley.run_ownership where run_id = $1', [run_id])).length > 0
}

/** True: another engine took the run and placed the call, which is then cancelled. False: the run ended without a call. */
async function waitForTakeover(
  harness: CallHarness,
  kill: KillCase,
  killedAt: number,
  run_id: string,
): Promise<boolean> {
  const isCalled = () =>
    harness
      .carrier(kill.line)
      .rows()
      .some(row => row.kind === 'answered' && isOf(kill, row) && row.wall_ms > killedAt)
  const isDecided = async () => (isCalled() || !(await hasPermit(harness, run_id)) ? true : null)
  await pollUntil(TAKEOVER_TIMEOUT_MS, isDecided)
  if (!isCalled()) return false
  await harness.client.runs.cancel({ params: { run_id }, body: {} })
  await waitForEnd(harness, run_id, TAKEOVER_TIMEOUT_MS)
  return true
}

/** Extends the lease as if its owner were alive. */
async function leaseFor(harness: CallHarness, run_id: string, interval: string): Promise<void> {
  const text = 'update parley.run_ownership set lease_until = now() + $2::interval where run_id = $1'
  await harness.rows(text, [run_id, interval])
}

/** Removes the stored dialog and blocks later writes of it. */
async function loseDialog(harness: CallHarness, run_id: string): Promise<void> {
  await harness.rows(
    'create or replace function parley.lose_dialog() returns trigger language plpgsql as $$ begin new.dialog := null; return new; end $$',
  )
  // A trigger definition takes no parameters; the id was generated by the database.
  await harness.rows(
    `create trigger lose_dialog before update on parley.runs for each row when (old.run_id = '${run_id}') execute function parley.lose_dialog()`,
  )
  await harness.rows('update parley.runs set dialog = null where run_id = $1', [run_id])
}

/** Resets the run as if no engine had owned it. */
async function offerAgain(harness: CallHarness, run_id: string): Promise<void> {
  await harness.rows(
    "update parley.runs set state = 'admitted', phone_state = 'admitted', dial = null, dialog = null, invite_sent_at = null where run_id = $1",
    [run_id],
  )
  await harness.rows(
    "update parley.run_ownership set engine = null, worker = null, lease_until = null, start_before = now() + interval '1 minute' where run_id = $1",
    [run_id],
  )
}
