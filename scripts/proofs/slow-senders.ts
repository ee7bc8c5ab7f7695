import { Attack } from './attacks/attack.ts'
import { ATTACKER, AttackHarness, healthFigures, isUnharmed, TOKEN } from './attacks/attack-harness.ts'
import type { SlowPeers, SlowPeersResult } from './attacks/slow-peers.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** The limits are 5 s for a handshake and 10 s for a first message, plus some seconds for a busy machine. */
const MAX_LIFETIME_MS = 13_000
/** Here the time of the first message begins after the handshake, which may take all of its own. */
const SLOW_AFTER_HANDSHAKE = 'drips over TLS'
const HANDSHAKE_MS = 5000
/** A peer that never reads is disconnected when megabytes are queued for it, which takes long on a busy machine. */
const DEAF_MS = 30_000
const DEAF = 'asks and never reads'
const HALF_OPEN_PER_PEER = 4

/**
 * Opens hundreds of slow connections: they send a few bytes at a time, send nothing, stop during a TLS handshake, or send
 * requests and never read. All are closed in time, a live call is unharmed, and a new call is answered at once. `count`
 * connections of each kind, four times as many unfinished handshakes.
 */
export async function proveSlowSenders(
  options: ProofOptions,
  planted: 'nothing' | 'no time to be closed' = 'nothing',
): Promise<ProofOutcome> {
  const { count, line, progress } = options
  const harness = await AttackHarness.open()
  const calmMs = await harness.timeNewCall()
  const attack = new Attack<SlowPeersResult>('slow-peers.ts', {
    tcpPort: harness.engine.endpoint.port('tcp'),
    tlsPort: harness.engine.endpoint.port('tls'),
    from: ATTACKER,
    count,
    halfOpen: HALF_OPEN_PER_PEER * count,
    uri: `sip:${TOKEN}@localhost`,
    ca: harness.ca,
    waitMs: planted === 'nothing' ? MAX_LIFETIME_MS : 2000,
    deafMs: planted === 'nothing' ? DEAF_MS : 0,
  } satisfies SlowPeers)
  try {
    const before = harness.engine.endpoint.transportStats()
    await new Promise(resolve => setTimeout(resolve, 2000))
    const during = harness.engine.endpoint.transportStats()
    progress(`${during.accepted} connections and ${during.handshakes} handshakes are open`)
    const newcomer = await harness.timeNewCall()
    const result = await attack.result
    await attack.end()
    const kinds = Object.values(result.kinds)
    const limited = Object.entries(result.kinds).filter(([name]) => name !== DEAF)
    const health = await harness.finish()
    const ok =
      kinds.length === 5 &&
      kinds.every(({ opened, closed }) => opened === closed) &&
      limited.every(([name, { longestMs }]) => longestMs < lifetimeLimitMs(name)) &&
      AttackHarness.isInTime(newcomer, calmMs) &&
      isUnharmed(health)
    line({ proof: 'slow-senders', kinds: result.kinds })
    const stats = { before: before.accepted, during: during.accepted, handshakes: during.handshakes }
    return {
      ok,
      summary: {
        connections: stats,
        calm_answered_ms: calmMs,
        newcomer_answered_ms: newcomer,
        live_call: healthFigures(health),
      },
    }
  } finally {
    await attack.end()
    await harness.close()
  }
}

function lifetimeLimitMs(kind: string): number {
  return kind === SLOW_AFTER_HANDSHAKE ? MAX_LIFETIME_MS + HANDSHAKE_MS : MAX_LIFETIME_MS
}

export const proof: Proof = {
  name: 'slow-senders',
  seconds: 120,
  count: 200,
  run: options => proveSlowSenders(options),
}
