import { Attack } from './attacks/attack.ts'
import { ATTACKER, AttackHarness, healthFigures, isUnharmed, TOKEN } from './attacks/attack-harness.ts'
import type { SipFlood, SipFloodResult } from './attacks/sip-flood.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const METHODS = ['OPTIONS', 'REGISTER', 'INVITE', 'garbage', 'SUBSCRIBE', 'BYE', 'CANCEL', 'INFO', 'REFER', 'MESSAGE']
/** Wait after the last request. In the full proof it is longer than the interval of our keep-alives. */
const LINGER_MS = 35_000
const SHORT_LINGER_MS = 500
const FULL_COUNT = 5000

/**
 * Scans an engine with many sockets over UDP, TCP and TLS: requests of every method, and bytes that are not SIP. Nothing is
 * answered, no call starts and no state remains. `count` requests over each transport.
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
    const runs = harness.callsAccepted - 1
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
