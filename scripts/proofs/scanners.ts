import { Attack } from './attacks/attack.ts'
import { ATTACKER, AttackHarness, healthFigures, isUnharmed, TOKEN } from './attacks/attack-harness.ts'
import type { SipFlood, SipFloodResult } from './attacks/sip-flood.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const METHODS = ['OPTIONS', 'REGISTER', 'INVITE', 'garbage', 'SUBSCRIBE', 'BYE', 'CANCEL', 'INFO', 'REFER', 'MESSAGE']
/** Behind the last request: longer than the pause before a keep-alive of ours, in a full proof. */
const LINGER_MS = 35_000
const SHORT_LINGER_MS = 500
const FULL_COUNT = 5000

/**
 * Scanners with many sockets over UDP, TCP and TLS: every method, and bytes that are no SIP. Not a byte comes back, no
 * call is made, nothing is kept. `count` requests over each transport.
 */
export async function proveScanners(
  options: ProofOptions,
  planted: 'nothing' | 'a guessed token' = 'nothing',
): Promise<ProofOutcome> {
  const { count, line, progress } = options
  const harness = await AttackHarness.open()
  try {
    const before = harness.engine.endpoint.userAgent.footprint
    let bytes = 0
    let sent = 0
    for (const transport of planted === 'nothing' ? (['udp', 'tcp', 'tls'] as const) : (['tcp'] as const)) {
      progress(`${count} requests over ${transport}`)
      const attack = new Attack<SipFloodResult>('sip-flood.ts', {
        transport,
        port: harness.engine.endpoint.port(transport),
        from: ATTACKER,
        sockets: 50,
        count,
        perSecond: 4000,
        methods: METHODS,
        uri: `sip:${planted === 'a guessed token' ? TOKEN : '100'}@localhost`,
        ca: harness.ca,
        lingerMs: count >= FULL_COUNT ? LINGER_MS : SHORT_LINGER_MS,
      } satisfies SipFlood)
      try {
        const result = await attack.result
        line({ proof: 'scanners', transport, sent: result.sent, bytes_received: result.bytesReceived })
        bytes += result.bytesReceived
        sent += result.sent
      } finally {
        await attack.end()
      }
    }
    const after = harness.engine.endpoint.userAgent.footprint
    const runs = harness.callsTaken - 1
    const health = await harness.finish()
    const ok =
      bytes === 0 &&
      runs === 0 &&
      after.sessions <= before.sessions &&
      after.transactions <= before.transactions &&
      isUnharmed(health)
    return {
      ok,
      summary: { requests: sent, bytes_answered: bytes, runs, before, after, live_call: healthFigures(health) },
    }
  } finally {
    await harness.close()
  }
}

export const proof: Proof = { name: 'scanners', seconds: 300, count: 10_000, run: options => proveScanners(options) }
