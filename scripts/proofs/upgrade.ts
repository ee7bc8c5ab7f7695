import { setTimeout as pause } from 'node:timers/promises'
import { WebhookReceiver } from '@parley/loadtest'
import { startTestServer } from '@parley/store/testing'
import { LISTENER } from './calls/agents.ts'
import { CallHarness } from './calls/call-harness.ts'
import type { Line } from './calls/carrier-lines.ts'
import { createMany } from './calls/created-runs.ts'
import { pollUntil } from './calls/poll-until.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { earlierCheckout, earlierCheckoutMissing } from './upgrade/earlier-checkout.ts'
import { BEFORE, emptyDatabase } from './upgrade/restored-fixture.ts'
import { type UpgradeObservations, upgradeFaults } from './upgrade/upgrade-faults.ts'

const LINE: Line = 'udp'
const AGENT = 'listener'
const SECRET = 'webhook-secret-of-the-upgrade'
const ANSWER_TIMEOUT_MS = 60_000
const END_TIMEOUT_MS = 150_000
/** A webhook that is sent twice arrives within this time: the first retry is after 1 s. */
const QUIET_MS = 3000

/** A planted fault, which the proof must report. `killed`: the earlier process gets SIGKILL instead of SIGTERM. */
type PlantedUpgradeFault = 'nothing' | 'killed'

/**
 * Runs processes of two versions on one database and home. The earlier version has live calls when a process of this checkout
 * starts; both get more calls; then the earlier one gets SIGTERM. Every call lasts until its far end hangs up, no number is
 * called twice, each run sends its webhooks once, and the earlier process exits with 0. `count` calls in each of three phases:
 * before this version starts, with both versions, and after the earlier one has ended.
 */
async function proveUpgrade(
  { count, line, progress }: ProofOptions,
  { callMs = 90_000, planted = 'nothing' }: { readonly callMs?: number; readonly planted?: PlantedUpgradeFault } = {},
): Promise<ProofOutcome> {
  const missing = earlierCheckoutMissing(BEFORE)
  if (missing !== null) throw new Error(missing)
  const checkout = earlierCheckout(BEFORE)
  const server = await startTestServer()
  const url = await emptyDatabase(server.templateUrl, 'parley_both_versions')
  const receiver = await WebhookReceiver.open({ secrets: [SECRET] })
  let harness: CallHarness | null = null
  try {
    harness = await CallHarness.open({
      processes: ['api,worker,engine'],
      program: checkout.program,
      numbers: [{ number: '*', behaviour: { do: 'answer', afterMs: 50, hangUpAfterMs: callMs } }],
      lines: [LINE],
      database: { url, ownerUrl: url },
      env: { PARLEY_EGRESS_ALLOW: new URL(receiver.url).host, PARLEY_LEASE_MS: '3000' },
    })
    await publish(harness, receiver)
    const faults = upgradeFaults(await upgrade(harness, receiver, { count, planted, progress }))
    for (const fault of faults) line({ proof: 'upgrade', fault })
    return { ok: faults.length === 0, summary: { before: BEFORE, calls: 3 * count, faults: faults.length } }
  } finally {
    await harness?.close()
    await receiver.close()
    await server.stop()
    checkout.remove()
  }
}

async function publish(harness: CallHarness, receiver: WebhookReceiver): Promise<void> {
  const secret_id = 'hook'
  const { version } = await harness.client.secrets.put({
    params: { secret_id },
    body: { kind: 'webhook_signing', value: SECRET },
  })
  const secret = { id: secret_id, version }
  const events: ('run.started' | 'run.ended')[] = ['run.started', 'run.ended']
  const notification = { url: `${receiver.url}/hook`, secret, events }
  await harness.publish(AGENT, { ...LISTENER, notification }, LINE)
  await harness.setCallsPerSecond(LINE, 50)
}

interface UpgradeOptions {
  readonly count: number
  readonly planted: PlantedUpgradeFault
  readonly progress: (text: string) => void
}

/** Runs the three phases. */
async function upgrade(
  harness: CallHarness,
  receiver: WebhookReceiver,
  { count, planted, progress }: UpgradeOptions,
): Promise<UpgradeObservations> {
  const earlier = harness.engine
  const answered = () =>
    harness
      .carrier(LINE)
      .query()
      .calls()
      .filter(({ answeredAt }) => answeredAt !== null).length
  const created = await createMany(harness, AGENT, 4, count)
  await pollUntil(ANSWER_TIMEOUT_MS, async () => (answered() === count ? true : null))
  progress(`${answered()} of ${count} calls are answered`)
  await harness.findApi(await harness.addProcess('api,worker,engine'))
  const live = liveCalls(harness)
  progress(`a process of this checkout is ready during ${live} live calls`)
  created.push(...(await createMany(harness, AGENT, 4, count)))
  await pollUntil(ANSWER_TIMEOUT_MS, async () => (answered() === 2 * count ? true : null))
  earlier.signal(planted === 'killed' ? 'SIGKILL' : 'SIGTERM')
  const exit = await Promise.race([earlier.exited(), pause(END_TIMEOUT_MS, 'alive' as const)])
  progress(`the earlier process ended with ${exit}`)
  created.push(...(await createMany(harness, AGENT, 4, count)))
  const running = () => harness.rows("select run_id from parley.runs where ended_at is null and state <> 'rejected'")
  await pollUntil(END_TIMEOUT_MS, async () => ((await running()).length === 0 ? true : null))
  await pause(QUIET_MS)

  const calls = harness.carrier(LINE).query().calls()
  const runs = await harness.rows<{ run_id: string; state: string; kind: string | null }>(
    "select run_id, state, outcome ->> 'kind' as kind from parley.runs",
  )
  return {
    count,
    created: created.length,
    calls: calls.length,
    cutOff: calls.filter(({ rows }) => rows.some(({ kind }) => kind === 'bye-received')).length,
    live,
    exit,
    runs: runs.map(({ run_id, state, kind }) => ({
      state,
      kind,
      webhooks: receiver.entries.flatMap(entry =>
        entry.run_id === run_id && entry.event !== null ? [entry.event] : [],
      ),
    })),
  }
}

/** Calls that were answered and have had no BYE. */
function liveCalls(harness: CallHarness): number {
  const calls = harness.carrier(LINE).query().calls()
  const isOver = (kind: string) => kind === 'bye-sent' || kind === 'bye-received'
  return calls.filter(({ answeredAt, rows }) => answeredAt !== null && !rows.some(({ kind }) => isOver(kind))).length
}

/** The upgrade once as it must be, then once with the earlier process killed, which the proof must notice. */
async function proveWithPlantedFault(options: ProofOptions): Promise<ProofOutcome> {
  const { ok, summary } = await proveUpgrade(options)
  const killed = await proveUpgrade({ ...options, count: 1, line: () => {} }, { callMs: 45_000, planted: 'killed' })
  return { ok: ok && !killed.ok, summary: { ...summary, planted_fault_noticed: !killed.ok } }
}

export const proof: Proof = { name: 'upgrade', seconds: 600, count: 5, run: proveWithPlantedFault }
