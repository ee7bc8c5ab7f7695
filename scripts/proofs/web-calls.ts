import { loadavg } from 'node:os'
import { join } from 'node:path'
import { codecByName, loadOpus } from '@parley/media/testing'
import { draftOf, promptEdge, staticNode } from '../../interop/conversation-flows.ts'
import { peerProcessOf } from '../../interop/peer-process-of.ts'
import { manyRtpPorts } from '../../interop/ports.ts'
import { spokenWide } from '../../interop/wide-speech.ts'
import { ChildLink } from '../benchmarks/child-link.ts'
import { LISTENER } from './calls/agents.ts'
import { CallHarness } from './calls/call-harness.ts'
import { createMany } from './calls/created-runs.ts'
import { pollUntil } from './calls/poll-until.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { cpuOf } from './web-calls/cpu-of.ts'
import type { BrowsersReply, BrowsersRequest } from './web-calls/messages.ts'
import { faultsOf, faultsOfKill } from './web-calls/verdict.ts'

const LINE = 'udp'
const FRAME = 320
/** A caller speaks for 2 s and is silent for the rest. */
const PERIOD_PACKETS = 500
const MOST_BYTES = 1500
const PHONE_CALLS = 3
/** The far end of the phone calls hangs up this long after their answer, at least. */
const PHONE_SPARE_MS = 30_000
const SOON_MS = 60_000
const PATIENT = { reminderMaxCount: 0, endCallAfterSilenceMs: 600_000, maxCallDurationMs: 1_800_000 } as const

/** Answers each utterance with a sentence, without end. */
const ANSWERER = draftOf(
  [
    staticNode('one', 'Good morning. What can I do for you today?', { always_edge: promptEdge('on', 'two', 'Always') }),
    staticNode('two', 'Very well, I have noted that. Is there anything else?', {
      always_edge: promptEdge('back', 'one', 'Always'),
    }),
  ],
  {},
  { settings: PATIENT, recording: { required: true, channels: 'dual', signed_urls: true } },
)

/**
 * `count` web calls at once, whose browsers are WebRTC peers in one process, beside phone calls. Measured for `seconds`: CPU of engine and
 * peer connections per call, lateness of the packets at the browsers. Then the process of peer connections is killed: every web call
 * ends with an error of its own, the phone calls go on until their far end hangs up, and the next web call is answered. Its short form is in
 * `interop/web-call.test.ts`; `web-calls.test.ts` beside this file plants faults.
 */
export const proof: Proof = { name: 'web-calls', seconds: 20, count: 20, run: proveWebCalls }

async function proveWebCalls({ count, seconds, line, progress }: ProofOptions): Promise<ProofOutcome> {
  const phoneMs = PHONE_SPARE_MS + (seconds + count) * 1000
  const harness = await CallHarness.open({
    // The first process runs the database: its CPU is not the engine's.
    processes: ['worker', 'api,engine'],
    numbers: [{ number: '*', behaviour: { do: 'answer', afterMs: 50, hangUpAfterMs: phoneMs } }],
    lines: [LINE],
    rtpPorts: manyRtpPorts(),
  })
  const browsers = new ChildLink<BrowsersRequest, BrowsersReply>(join(import.meta.dirname, 'web-calls/browsers.ts'))
  try {
    await harness.publish('answerer', ANSWERER, LINE)
    await harness.publish('listener', LISTENER, LINE)
    await harness.set({ set: 'capacity', value: count + PHONE_CALLS + 10 })
    await browsers.ask({ type: 'prepare', packets: await spokenPackets() }, 'prepared')
    const phones = (await createMany(harness, 'listener', 1, PHONE_CALLS)).map(({ run_id }) => run_id!)
    const opened = await openCalls(harness, browsers, count)
    progress(`${opened.runs.length} web calls are up, load ${loadavg()[0]!.toFixed(1)}`)
    const measured = await measure(harness, browsers, { count, seconds })
    line({ proof: 'web-calls', ...measured })
    const killed = await killPeers(harness, browsers, { runs: opened.runs, phones, phoneMs })
    const faults = [...opened.faults, ...faultsOf(measured, { count, seconds }), ...killed.faults]
    for (const fault of faults) line({ proof: 'web-calls', fault })
    const { ended_within_ms, outcomes } = killed
    return { ok: faults.length === 0, summary: { ...measured, ended_within_ms, outcomes, faults: faults.length } }
  } finally {
    await browsers.end()
    await harness.close()
  }
}

/** Opus of a spoken sentence and the silence after it. */
async function spokenPackets(): Promise<Uint8Array[]> {
  await loadOpus()
  const encoder = codecByName('OPUS').createEncoder('useinbandfec=1')
  const audio = new Int16Array(PERIOD_PACKETS * FRAME)
  audio.set((await spokenWide('I would like to book an appointment')).subarray(0, audio.length))
  const packet = new Uint8Array(MOST_BYTES)
  return Array.from({ length: PERIOD_PACKETS }, (_, i) =>
    packet.slice(0, encoder.encode(audio, i * FRAME, FRAME, packet, 0)),
  )
}

type Browsers = ChildLink<BrowsersRequest, BrowsersReply>

/** Opens `count` web calls, one after another. */
async function openCalls(harness: CallHarness, browsers: Browsers, count: number) {
  const runs: string[] = []
  const faults: string[] = []
  for (let i = 0; i < count; i++) {
    const body = { agent_id: 'answerer', channel: 'web', mode: 'inbound' } as const
    const { run_id, web } = await harness.client.runs.create({ body })
    const { status } = await browsers.ask({ type: 'call', url: web!.url, token: web!.token }, 'called')
    if (status === 201) runs.push(run_id)
    else faults.push(`the offer of web call ${i + 1} was answered ${status}`)
  }
  return { runs, faults }
}

async function measure(
  { engine }: CallHarness,
  browsers: Browsers,
  { count, seconds }: { readonly count: number; readonly seconds: number },
) {
  const processes = { engine: engine.pid!, peers: peerProcessOf(engine.pid!) }
  const done = browsers.ask({ type: 'measure', seconds }, 'measured')
  await Promise.race([browsers.next('measuring'), done])
  const before = { engine: cpuOf(processes.engine), peers: cpuOf(processes.peers) }
  const { measured } = await done
  const callSeconds = count * measured.seconds
  const perCall = (ms: number) => Math.round((100 * ms) / callSeconds) / 100
  const { cpu_ms, seconds: _, ...rest } = measured
  return {
    calls: count,
    load: Math.round(10 * loadavg()[0]!) / 10,
    /** CPU per second of a call, ms. */
    engine_ms_per_call_s: perCall(cpuOf(processes.engine) - before.engine),
    peers_ms_per_call_s: perCall(cpuOf(processes.peers) - before.peers),
    browsers_ms_per_call_s: perCall(cpu_ms),
    ...rest,
  }
}

/** Kills the process of peer connections. */
async function killPeers(
  harness: CallHarness,
  browsers: Browsers,
  calls: { readonly runs: readonly string[]; readonly phones: readonly string[]; readonly phoneMs: number },
) {
  const early = await harness.rows<{ detail: string | null }>(
    "select outcome ->> 'detail' as detail from parley.runs where run_id = any($1) and ended_at is not null",
    [calls.runs],
  )
  const killedAt = performance.now()
  process.kill(peerProcessOf(harness.engine.pid!), 'SIGKILL')
  const webRuns = () =>
    harness.rows<{ state: string; kind: string | null; ended: boolean }>(
      "select state, outcome ->> 'kind' as kind, ended_at is not null as ended from parley.runs where run_id = any($1)",
      [calls.runs],
    )
  const ended = await pollUntil(SOON_MS, async () => {
    const rows = await webRuns()
    return rows.every(row => row.ended) ? rows : null
  })
  const ended_within_ms = Math.round(performance.now() - killedAt)
  const next = await openCalls(harness, browsers, 1)
  const phoneRuns = () =>
    harness.rows<{ kind: string | null }>(
      "select outcome ->> 'kind' as kind from parley.runs where run_id = any($1) and ended_at is not null",
      [calls.phones],
    )
  const phonesEnded = await pollUntil(calls.phoneMs + SOON_MS, async () => {
    const rows = await phoneRuns()
    return rows.length === calls.phones.length ? rows : null
  })
  // A carrier notes a first packet again after a second without packets.
  const carrierCalls = harness.carrier(LINE).query().calls()
  const gaps = carrierCalls.filter(({ rows }) => rows.filter(({ kind }) => kind === 'media-first-packet').length !== 1)
  const states = ended ?? (await webRuns())
  const outcomes = states.map(({ state, kind }) => `${state}/${kind}`)
  const kinds = (phonesEnded ?? (await phoneRuns())).map(({ kind }) => kind)
  return {
    ended_within_ms: ended === null ? null : ended_within_ms,
    outcomes: Object.fromEntries([...Map.groupBy(outcomes, name => name)].map(([name, rows]) => [name, rows.length])),
    faults: [
      ...faultsOfKill(
        { outcomes, kinds, interrupted: gaps.length, early: early.map(({ detail }) => detail ?? 'no detail') },
        { web: calls.runs.length, phone: calls.phones.length },
      ),
      ...next.faults,
    ],
  }
}
