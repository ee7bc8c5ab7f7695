import type { Ms } from '@parley/kernel'
import { Attack } from './attacks/attack.ts'
import { ATTACKER, AttackHarness, healthFigures, isUnharmed, TOKEN } from './attacks/attack-harness.ts'
import type { OptionsProbe, OptionsProbeResult } from './attacks/options-probe.ts'
import type { PlaceHolder, PlaceHolderResult } from './attacks/place-holder.ts'
import type { SipFlood, SipFloodResult } from './attacks/sip-flood.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** A legitimate peer; the live call is between other addresses. */
const PEER = '127.0.0.3'
const DATAGRAMS_PER_SECOND = 48_000
const PROBE_EVERY_MS = 20
/** The peer's OPTIONS are answered within this time, or that many times what the slowest took just before the attack: a busy machine is slow by itself. */
const TIMEOUT_MS = 1000
const SLOWER = 4
const CALM_SECONDS = 0.5
/** For the slowest of a calm machine. */
const CALM_TIMEOUT_MS = 10_000
/** Time in which an attack takes the places before the peer asks; its process may take long to start. */
const SETTLED_WITHIN_MS = 60_000
const HANDSHAKES_PER_ADDRESS = 64
const CONNECTIONS_PER_ADDRESS = 1000
/** Places for addresses that no trunk has. */
const HANDSHAKES = 192
const CONNECTIONS = 7500

/** A planted fault, which the proof must report: the peer has the attacker's address. */
type Planted = 'nothing' | "the attacker's address"

const ATTACKS = ['datagrams', 'handshakes', 'connections'] as const

interface ExhaustionOptions {
  readonly planted?: Planted
  /** Addresses that hold handshakes and connections. */
  readonly addresses?: number
  readonly attacks?: readonly (typeof ATTACKS)[number][]
}

/**
 * A few addresses try to use up what all peers share, during a live call: 48,000 datagrams a second from one address, then as
 * many unfinished TLS handshakes and as many silent connections as addresses may hold. Another peer's OPTIONS are all answered
 * within a second on a machine that is not busy, over UDP and over new TLS connections. Attackers that want more places than there are
 * are refused, and lose some to the peer. The live call is unharmed. `count`: seconds of each attack.
 */
export async function proveExhaustion(
  options: ProofOptions,
  { planted = 'nothing', addresses = 12, attacks = ATTACKS }: ExhaustionOptions = {},
): Promise<ProofOutcome> {
  const { count: seconds, line, progress } = options
  const harness = await AttackHarness.open()
  const from = planted === 'nothing' ? PEER : ATTACKER
  try {
    const results: AttackFigures[] = []
    for (const attack of attacks) {
      progress(`${attack} of few addresses`)
      const result =
        attack === 'datagrams'
          ? await floodDatagrams(harness, from, seconds)
          : await holdPlaces(harness, { from, seconds, handshake: attack === 'handshakes', addresses })
      line({ proof: 'exhaustion', attack, ...result.figures })
      results.push(result)
    }
    const health = await harness.finish()
    return {
      ok: results.every(({ ok }) => ok) && isUnharmed(health),
      summary: { live_call: healthFigures(health) },
    }
  } finally {
    await harness.close()
  }
}

interface AttackFigures {
  readonly ok: boolean
  readonly figures: object
}

async function floodDatagrams(harness: AttackHarness, from: string, seconds: number): Promise<AttackFigures> {
  const timeoutMs = await timeLimit(harness, 'udp')
  const before = harness.engine.endpoint.transportStats().datagramsDropped
  const attack = new Attack<SipFloodResult>('sip-flood.ts', {
    transport: 'udp',
    port: harness.engine.endpoint.port('udp'),
    from: ATTACKER,
    sockets: 8,
    count: DATAGRAMS_PER_SECOND * seconds,
    perSecond: DATAGRAMS_PER_SECOND,
    methods: ['OPTIONS'],
    uri: 'sip:sales@localhost',
    ca: harness.ca,
    lingerMs: 200,
  } satisfies SipFlood)
  try {
    const asked = await probe(harness, { from, transport: 'udp', seconds, timeoutMs })
    const flood = await attack.result
    const dropped = harness.engine.endpoint.transportStats().datagramsDropped - before
    const ok = isAnswered(asked) && dropped > 0 && flood.bytesReceived === 0
    const rate = Math.round(flood.sent / flood.seconds)
    return { ok, figures: { ok, sent: flood.sent, sent_per_second: rate, dropped_unread: dropped, options: asked } }
  } finally {
    await attack.end()
  }
}

async function holdPlaces(
  harness: AttackHarness,
  job: { readonly from: string; readonly seconds: number; readonly handshake: boolean; readonly addresses: number },
): Promise<AttackFigures> {
  const { from, seconds, handshake, addresses } = job
  const { endpoint } = harness.engine
  const timeoutMs = await timeLimit(harness, 'tls')
  const before = endpoint.transportStats()
  const perAddress = handshake ? HANDSHAKES_PER_ADDRESS : CONNECTIONS_PER_ADDRESS
  const places = handshake ? HANDSHAKES : CONNECTIONS
  const attack = new Attack<PlaceHolderResult>('place-holder.ts', {
    port: endpoint.port(handshake ? 'tls' : 'tcp'),
    // 127.0.0.2, then 127.0.0.4 on: 127.0.0.3 is the legitimate peer.
    from: Array.from({ length: addresses }, (_, i) => (i === 0 ? ATTACKER : `127.0.0.${i + 3}`)),
    perAddress,
    handshake,
    reopenMs: handshake ? 250 : 2000,
  } satisfies PlaceHolder)
  try {
    const wanted = Math.min(places, addresses * perAddress)
    const { accepted, handshakes, isSettled } = await settled(harness, handshake, wanted)
    const asked = await probe(harness, { from, transport: 'tls', seconds, timeoutMs })
    attack.stop()
    const held = await attack.result
    const after = endpoint.transportStats()
    const evicted = after.evicted - before.evicted
    const refused = after.refused - before.refused
    // Of more connections than there are places, some are refused, and the peer takes the places of others: else the attack was none.
    const isFull = isSettled && (addresses * perAddress <= places || (evicted > 0 && refused > 0))
    const ok = isAnswered(asked) && isFull
    return {
      ok,
      figures: {
        ok,
        addresses,
        accepted,
        handshakes,
        opened: held.opened,
        evicted,
        refused,
        options: asked,
      },
    }
  } finally {
    await attack.end()
  }
}

/** The engine's places once an attack holds `wanted` of them, or does not within {@link SETTLED_WITHIN_MS}. */
async function settled(harness: AttackHarness, handshake: boolean, wanted: number) {
  const until = performance.now() + SETTLED_WITHIN_MS
  for (;;) {
    const { accepted, handshakes } = harness.engine.endpoint.transportStats()
    const isSettled = (handshake ? handshakes : accepted) >= wanted
    if (isSettled || performance.now() > until) return { accepted, handshakes, isSettled }
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

/** Time in which OPTIONS must be answered during an attack, by what they take now; ms. */
async function timeLimit(harness: AttackHarness, transport: OptionsProbe['transport']): Promise<Ms> {
  const job = { from: PEER, transport, seconds: CALM_SECONDS, timeoutMs: CALM_TIMEOUT_MS }
  const { maxMs } = await probe(harness, job)
  return Math.max(TIMEOUT_MS, SLOWER * maxMs)
}

async function probe(
  harness: AttackHarness,
  job: Pick<OptionsProbe, 'from' | 'transport' | 'timeoutMs'> & { readonly seconds: number },
): Promise<OptionsProbeResult> {
  const everyMs = job.transport === 'udp' ? PROBE_EVERY_MS : 5 * PROBE_EVERY_MS
  const attack = new Attack<OptionsProbeResult>('options-probe.ts', {
    transport: job.transport,
    port: harness.engine.endpoint.port(job.transport),
    from: job.from,
    uri: `sip:${TOKEN}@localhost`,
    count: Math.round((job.seconds * 1000) / everyMs),
    everyMs,
    timeoutMs: job.timeoutMs,
    ca: harness.ca,
  } satisfies OptionsProbe)
  try {
    return await attack.result
  } finally {
    await attack.end()
  }
}

function isAnswered({ sent, answered }: OptionsProbeResult): boolean {
  return sent > 0 && answered === sent
}

export const proof: Proof = { name: 'exhaustion', seconds: 120, count: 10, run: options => proveExhaustion(options) }
