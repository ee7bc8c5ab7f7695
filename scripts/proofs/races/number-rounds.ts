import { setTimeout as pause } from 'node:timers/promises'
import type { Scope } from '@parley/contract'
import type { WholeApi } from '@parley/control-plane/testing'
import { type Random, randomBelow } from '@parley/kernel'
import { asStaff, confirmNumber, StoreError } from '@parley/store'

const SPREAD_MS = 6
const LOOKUPS = 12

/** An environment with a trunk that is known by its address. */
interface Claimant {
  readonly scope: Scope
  readonly key: string
  readonly trunk_id: string
}

/** What every round needs. */
interface NumberRounds {
  readonly api: WholeApi
  readonly random: Random
  readonly claimants: readonly [Claimant, Claimant]
  /** Whether calls without a token reach confirmed claims only; false: the planted fault. */
  readonly onlyConfirmed: boolean
}

/** Two environments of two organisations, each with a trunk at the same carrier. */
export async function openClaimants(api: WholeApi): Promise<[Claimant, Claimant]> {
  const claimant = async (): Promise<Claimant> => {
    const scope = await api.db.scope()
    const key = (await api.newKey('admin', scope)).secret
    // A trunk without a token, whose calls are known by the carrier's address.
    await api.db.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
       values ($1, 'carrier', 'Carrier', 'generic_sip', 'sip.example.com', false)`,
      [scope.tenant_id],
    )
    return { scope, key, trunk_id: 'carrier' }
  }
  return [await claimant(), await claimant()]
}

/**
 * Two environments import the same number while staff confirm the claims of both and calls without a token arrive. Both imports succeed alike,
 * one claim is confirmed, and no call reaches two environments, or one whose claim is not confirmed; a confirmed claim
 * that nobody moves is reached until the end.
 */
export async function raceNumber(
  { api, random, claimants, onlyConfirmed }: NumberRounds,
  round: number,
): Promise<string[]> {
  const phone_number = `+1415${String(2_000_000 + round)}`
  const faults: string[] = []
  const moves = randomBelow(random, 4) === 0
  const claimed = claimants.map(async claimant => {
    await pause(randomBelow(random, SPREAD_MS))
    const { key, trunk_id } = claimant
    const { status, body } = await api.send('numbers.import', { body: { phone_number, trunk_id } }, { key })
    if (status !== 201 || body.inbound !== 'unconfirmed')
      faults.push(`an import answered ${status} ${JSON.stringify(body)}`)
    await pause(randomBelow(random, SPREAD_MS))
    return { claimant, confirmed: await confirm(api, String(body.number_id), moves, faults) }
  })
  const calls = lookUp({ api, random, claimants, onlyConfirmed }, phone_number, moves, faults)
  const outcomes = await Promise.all(claimed)
  await calls
  const winners = outcomes.filter(({ confirmed }) => confirmed)
  if (moves ? winners.length !== 2 : winners.length !== 1) faults.push(`${winners.length} claims were confirmed`)
  const [last, ...others] = await reached(api, claimants, phone_number, onlyConfirmed)
  if (others.length > 0) faults.push('a call reached two environments')
  if (last === undefined || (!moves && last !== winners[0]?.claimant.scope.tenant_id))
    faults.push('a call does not reach the environment whose claim is confirmed')
  await api.db.owner.query('delete from parley.numbers where phone_number = $1', [phone_number])
  return faults
}

/** Whether the claim was confirmed; otherwise the other environment has the number. */
async function confirm(api: WholeApi, numberId: string, moves: boolean, faults: string[]): Promise<boolean> {
  try {
    await asStaff(api.db.owner.url, tx => confirmNumber(tx, numberId, moves))
    return true
  } catch (error) {
    if (!StoreError.is(error, 'number_claimed')) faults.push(`a confirmation failed: ${String(error)}`)
    return false
  }
}

/** Calls without a token, while claims change. */
async function lookUp(rounds: NumberRounds, phone_number: string, moves: boolean, faults: string[]): Promise<void> {
  const { api, random, claimants, onlyConfirmed } = rounds
  let before: string | null = null
  for (let call = 0; call < LOOKUPS; call++) {
    await pause(randomBelow(random, 3))
    const found = await reached(api, claimants, phone_number, onlyConfirmed)
    if (found.length > 1) faults.push('a call reached two environments')
    const now = found[0] ?? null
    if (before !== null && now !== before && !moves)
      faults.push('a call stopped reaching the environment whose claim is confirmed')
    before = now
  }
}

/** The environments that a call to the number without a token reaches. */
async function reached(
  api: WholeApi,
  claimants: NumberRounds['claimants'],
  phone_number: string,
  onlyConfirmed: boolean,
): Promise<string[]> {
  const candidates = claimants.map(({ scope, trunk_id }) => ({ scope, trunk_id, phone_number }))
  const found = await api.db.database.telephony.reached(candidates, onlyConfirmed)
  return found.map(({ scope }) => scope.tenant_id)
}
