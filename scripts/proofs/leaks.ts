import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMITS_WHEN_LATE, type Call, Engine, testPlan, testRouter } from '@parley/engine/testing'
import { randomToken, SeededRandom } from '@parley/kernel'
import { ensureLocalCertificate, parseUri, type SipUri } from '@parley/leg'
import { VirtualPhone } from '@parley/phone'
import type { TextToSpeech } from '@parley/providers'
import { collectGarbage } from './attacks/memory.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const AT_ONCE = 10
const PROGRESS_EVERY = 100
/** The full proof waits also for transactions, which last 64*T1; the short one only for ports and sockets. */
const FULL_SETTLE_MS = 35_000
const SHORT_SETTLE_MS = 4000
const FULL_COUNT = 500
const MAX_GROWTH_BYTES = 24 * 1024 * 1024

/** Resources of a process. */
interface Resources {
  readonly sockets: number
  readonly heapBytes: number
  readonly sessions: number
  readonly media: string
}

/**
 * Makes calls over TLS and SRTP on real sockets, half of them inbound and half outbound, half of each hung up by either side.
 * Afterwards the process has no more sockets, sessions, ports or memory than before. `count` calls in each direction.
 */
export async function proveNoLeaks(
  options: ProofOptions,
  planted: 'nothing' | 'a call' = 'nothing',
): Promise<ProofOutcome> {
  const { seed, count, line, progress } = options
  const settleMs = count >= FULL_COUNT ? FULL_SETTLE_MS : SHORT_SETTLE_MS
  const home = await mkdtemp(join(tmpdir(), 'parley-leaks.'))
  const tls = await ensureLocalCertificate(home, { names: ['localhost'], addresses: ['127.0.0.1'] })
  const token = randomToken(new SeededRandom(seed), 26)
  const endpoint = { tls, rtp: { ports: { from: 11_000, to: 14_999 }, threads: 1 }, userAgentName: 'Parley' }
  const engine = await Engine.start({
    endpoint,
    router: testRouter([{ token, security: 'srtp-required', plan: () => testPlan({ voice: silence }) }]),
    ...ADMITS_WHEN_LATE,
  })
  const phone = await VirtualPhone.open({
    endpoint: { ...endpoint, rtp: { ...endpoint.rtp, ports: { from: 15_000, to: 18_999 } } },
  })
  const lines = { engine, phone, inboundUri: `sip:${token}@127.0.0.1:${engine.endpoint.port('tls')};transport=tls` }
  try {
    // Warm-up: connections, compiled code and pools stay.
    await calls(lines, 40, () => {})
    await settled(engine, settleMs, progress)
    const before = await countResources(engine)
    line({ proof: 'leaks', before })
    const failed = await calls(lines, count * 2, done => {
      if (done % PROGRESS_EVERY === 0) progress(`${done} of ${count * 2} calls`)
    })
    if (planted === 'a call') await phone.call(lines.inboundUri)
    await settled(engine, settleMs, progress)
    const after = await countResources(engine)
    const growth = after.heapBytes - before.heapBytes
    const ok =
      failed === 0 &&
      after.sessions === 0 &&
      after.sockets <= before.sockets &&
      after.media === before.media &&
      growth < MAX_GROWTH_BYTES
    return { ok, summary: { calls: count * 2, failed, before, after, heap_growth_bytes: growth } }
  } finally {
    await phone.close()
    await engine.close()
    await rm(home, { recursive: true, force: true })
  }
}

interface Line {
  readonly engine: Engine
  readonly phone: VirtualPhone
  readonly inboundUri: string
}

/** Makes calls, 10 at a time. Returns the number of calls that did not end as expected. */
async function calls(line: Line, count: number, onDone: (done: number) => void): Promise<number> {
  let failed = 0
  let started = 0
  let done = 0
  const worker = async () => {
    while (started < count) {
      const number = started++
      const ok = number % 2 === 0 ? await inbound(line, number % 4 === 0) : await outbound(line, number % 4 === 1)
      if (!ok) failed++
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return failed
}

async function inbound({ engine, phone, inboundUri }: Line, phoneHangsUp: boolean): Promise<boolean> {
  const call = await phone.call(inboundUri)
  await call.waitFor('answered', 20_000)
  if (phoneHangsUp) call.leg.hangUp()
  else for (const live of engine.calls) if (live.leg.callId === call.leg.callId) live.cancel()
  const end = await call.ended
  return end.cause === 'bye' && end.confirmed
}

async function outbound({ engine, phone }: Line, phoneHangsUp: boolean): Promise<boolean> {
  const call: Call = await engine.dial({
    uri: parseUri(phone.uri()) as SipUri,
    from: { displayName: undefined, uri: parseUri('sip:engine@localhost') as SipUri, params: new Map() },
    security: 'srtp-required',
    plan: testPlan({ voice: silence }),
  })
  const answered = await phone.nextCall()
  await answered.waitFor('answered', 20_000)
  if (phoneHangsUp) answered.leg.hangUp()
  else call.cancel()
  const { end } = await call.report
  return end.cause === 'bye' && end.confirmed
}

async function settled(engine: Engine, ms: number, progress: (text: string) => void): Promise<void> {
  progress(`waiting ${ms / 1000} s for ports and transactions to be released`)
  await new Promise(resolve => setTimeout(resolve, ms))
  if (engine.calls.size > 0) progress(`${engine.calls.size} calls have not ended`)
}

async function countResources(engine: Engine): Promise<Resources> {
  collectGarbage()
  const descriptors = await readdir('/proc/self/fd').catch(() => [])
  return {
    sockets: descriptors.length,
    heapBytes: process.memoryUsage().heapUsed,
    sessions: engine.endpoint.userAgent.sessionCount,
    media: engine.endpoint.media.describe(),
  }
}

const silence: TextToSpeech = {
  id: 'test/silence',
  languages: ['en'],
  readiness: async () => null,
  async *synthesize() {
    yield { samples: new Int16Array(8000), words: [] }
  },
  close: async () => {},
}

export const proof: Proof = { name: 'leaks', seconds: 900, count: 1000, run: options => proveNoLeaks(options) }
