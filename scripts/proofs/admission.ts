import { setTimeout as pause } from 'node:timers/promises'
import { type LedgerCall, LedgerQueries } from '@parley/loadtest'
import { manyRtpPorts } from '../../interop/ports.ts'
import { LISTENER } from './calls/agents.ts'
import { CallHarness } from './calls/call-harness.ts'
import type { Line } from './calls/carrier-lines.ts'
import { type Created, createMany } from './calls/created-runs.ts'
import { pollUntil } from './calls/poll-until.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const LINE: Line = 'udp'
const AGENT = 'listener'
const END_TIMEOUT_MS = 90_000
/** Connections that are kept alive, each with one request at a time. */
const WRITERS = 64

/** Parameters of the proof. */
interface AdmissionOptions {
  readonly capacity: number
  /** Daily call limit of the first part. */
  readonly dailyLimit: number
  /** Spend cap of the second part, US dollars; each call reserves one dollar. */
  readonly dollars: number
  /** Duration of each call until the carrier hangs up. */
  readonly callMs: number
}

const LONG: AdmissionOptions = { capacity: 100, dailyLimit: 250, dollars: 20, callMs: 8000 }

/**
 * Creates far more runs at once than the limits allow: first with a capacity and a daily limit, then with a spend cap. The
 * calls that the carrier saw, from INVITE to confirmed end, never exceed a limit; each refusal names its limit and how much
 * of it is used; all permits are returned. Planted fault: the check is repeated with a capacity that is one too small, and
 * must then report a call too many.
 */
export async function proveAdmission(
  { count, line, progress }: ProofOptions,
  overrides: Partial<AdmissionOptions> = {},
): Promise<ProofOutcome> {
  const options: AdmissionOptions = { ...LONG, ...overrides }
  const { capacity, dailyLimit, dollars, callMs } = options
  const answer = { do: 'answer', afterMs: 50, hangUpAfterMs: callMs } as const
  const harness = await CallHarness.open({
    processes: ['api,worker', 'engine'],
    numbers: [{ number: '*', behaviour: answer }],
    lines: [LINE],
    rtpPorts: manyRtpPorts(),
  })
  try {
    await harness.publish(AGENT, LISTENER, LINE)
    await harness.set({ set: 'capacity', value: capacity })
    await harness.set({ set: 'rate_limit', value: { per_second: 100_000, burst: 100_000 } })
    await harness.setCallsPerSecond(LINE, 1000)
    await harness.client.callLimits.update({ body: { daily_limit: dailyLimit } })
    // Requests continue while calls end, so that first the capacity and then the daily limit refuses.
    const first: Created[] = []
    const half = Math.ceil((count * 2) / 3)
    while (first.length < half) {
      first.push(...(await createMany(harness, AGENT, WRITERS, Math.ceil(half / 4))))
      progress(`${first.length} of ${half} runs requested, ${admitted(first)} admitted`)
      await pause(callMs)
    }
    await allEnded(harness)
    const before = harness.carrier(LINE).rows().length
    const cap = await setSpendCap(harness, dollars)
    const second = await createMany(harness, AGENT, WRITERS, count - half)
    progress(`${second.length} runs requested under a spend cap, ${admitted(second)} admitted`)
    await allEnded(harness)
    const queries = harness.carrier(LINE).query()
    const later = new LedgerQueries(harness.carrier(LINE).rows().slice(before))
    const faults = [
      ...limitFaults(queries, capacity, 'concurrent_capacity'),
      ...limitFaults(later, Math.min(dollars, capacity), 'spend_cap'),
      ...(admitted(first) > dailyLimit ? [`${admitted(first)} runs admitted with a daily limit of ${dailyLimit}`] : []),
      ...dialFaults(queries.calls(), admitted(first) + admitted(second)),
      ...[...first, ...second].flatMap(create => refusalFaults(create, { capacity, dailyLimit, cap })),
      ...(await permitsLeft(harness)),
    ]
    const maximum = queries.maxConcurrent(undefined, 'confirmed').calls
    const plantedNoticed = limitFaults(queries, maximum - 1, 'concurrent_capacity').length > 0
    for (const fault of new Set(faults)) line({ proof: 'admission', fault })
    const ended = await harness.rows<{ as: string; runs: number }>(
      `select concat_ws(' ', state, outcome ->> 'kind', outcome ->> 'detail') as as, count(*)::int as runs
       from parley.runs group by 1 order by 2 desc`,
    )
    if (faults.length > 0) progress(harness.processes.map(({ roles, output }) => `${roles}:\n${output}`).join('\n'))
    return {
      ok: faults.length === 0 && plantedNoticed,
      summary: {
        asked: first.length + second.length,
        admitted: admitted(first) + admitted(second),
        refused: refusalCounts([...first, ...second]),
        ended: Object.fromEntries(ended.map(({ as, runs }) => [as, runs])),
        most_at_once: maximum,
        most_at_once_under_spend_cap: later.maxConcurrent(undefined, 'confirmed').calls,
        faults: faults.length,
        planted_noticed: plantedNoticed,
      },
    }
  } finally {
    await harness.close()
  }
}

function admitted(created: readonly Created[]): number {
  return created.filter(({ status }) => status === 201).length
}

async function setSpendCap(harness: CallHarness, dollars: number): Promise<string> {
  await harness.installRateCard({ rate_card_id: 'proof', reserve_usd: { phone: '1', web: '1', cloud: '1' }, rates: [] })
  await harness.client.callLimits.update({ body: { daily_limit: null } })
  const { policy_id } = await harness.client.budgets.get()
  const body = { cap_usd: String(dollars), expected_policy_id: policy_id! }
  await harness.client.budgets.update({ body })
  return String(dollars)
}

function limitFaults(queries: LedgerQueries, cap: number, name: string): string[] {
  return queries
    .over(cap, undefined, 'confirmed')
    .map(
      ({ atMs, calls }) => `${calls.length} calls at once at ${Math.round(atMs)} ms, above the limit ${name} of ${cap}`,
    )
}

/** Faults unless every admitted run was dialled once, and nothing else was dialled. */
function dialFaults(calls: readonly LedgerCall[], admitted: number): string[] {
  const numbers = new Set(calls.map(({ opening }) => opening.called))
  const isRight = calls.length === admitted && numbers.size === admitted
  return isRight ? [] : [`${calls.length} calls to ${numbers.size} numbers for ${admitted} admitted runs`]
}

function refusalFaults(
  { status, reason, limit, used }: Created,
  { capacity, dailyLimit, cap }: { readonly capacity: number; readonly dailyLimit: number; readonly cap: string },
): string[] {
  if (status === 201) return []
  const expected: Readonly<Record<string, string | number>> = {
    concurrent_capacity: capacity,
    daily_call_limit: dailyLimit,
    spend_cap: cap,
  }
  const limits = expected[reason ?? '']
  const isNamed = limits !== undefined && Number(limit) === Number(limits)
  // One more dollar would exceed the cap; of the other limits nothing is left.
  const isUsed = used !== null && Number(used) + (reason === 'spend_cap' ? 1 : 0) >= Number(limit)
  const isWithin = used !== null && Number(used) <= Number(limit)
  return isNamed && isUsed && isWithin ? [] : [`refused with ${status} ${reason}, limit ${limit}, used ${used}`]
}

async function allEnded(harness: CallHarness): Promise<void> {
  const rows = () => harness.rows('select 1 from parley.run_ownership')
  await pollUntil(END_TIMEOUT_MS, async () => ((await rows()).length === 0 ? true : null))
}

async function permitsLeft(harness: CallHarness): Promise<string[]> {
  const [left] = await harness.rows<{ live: number; reserved: string; owned: number }>(
    'select coalesce(sum(live), 0)::int as live, coalesce(sum(reserved_usd), 0)::text as reserved, (select count(*) from parley.run_ownership)::int as owned from parley.run_counters',
  )
  const { live, owned, reserved } = left!
  const isBack = live === 0 && owned === 0 && Number(reserved) === 0
  return isBack ? [] : [`permits not returned: ${live}; owned runs: ${owned}; dollars still reserved: ${reserved}`]
}

function refusalCounts(created: readonly Created[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const { status, reason } of created)
    if (status !== 201) found[reason ?? String(status)] = (found[reason ?? String(status)] ?? 0) + 1
  return found
}

export const proof: Proof = { name: 'admission', seconds: 900, count: 1000, run: options => proveAdmission(options) }
