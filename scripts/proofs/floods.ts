import { Attack } from './attacks/attack.ts'
import { ATTACKER, AttackHarness, healthFigures, isUnharmed, TOKEN } from './attacks/attack-harness.ts'
import { Memory } from './attacks/memory.ts'
import type { SipFlood, SipFloodResult } from './attacks/sip-flood.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const PER_SECOND = 5000
/** Allowed growth of memory during and after a flood, bytes. */
const MAX_GROWTH_DURING = 192 << 20
const MAX_GROWTH_AFTER = 96 << 20
const MAX_CALLS = 20

type Planted = 'nothing' | 'a guessed token' | 'a mute phone' | 'forgotten memory'

/**
 * Floods an engine with INVITEs over UDP, TCP and TLS during a call, without and with the inbound token. INVITEs without the
 * token get no answer; those with it get 503 with Retry-After above the limit of calls; memory stays bounded; the live call is
 * unharmed; and a call right after a flood is answered at once. `count` INVITEs each.
 */
export async function proveFloods(options: ProofOptions, planted: Planted = 'nothing'): Promise<ProofOutcome> {
  const { count, line, progress } = options
  // The floods over UDP and TCP have to get as far as the limit of calls.
  const harness = await AttackHarness.open({ maxCalls: MAX_CALLS, security: 'srtp-without-tls' })
  try {
    const results: { readonly ok: boolean; readonly sent: number }[] = []
    for (const transport of ['udp', 'tcp', 'tls'] as const) {
      for (const who of ['stranger', 'token'] as const) {
        progress(`${count} INVITEs over ${transport}, ${who === 'token' ? 'with' : 'without'} the token`)
        const result = await flood(harness, { transport, who, count }, planted)
        line({ proof: 'floods', ...result.figures })
        results.push(result)
        if (planted !== 'nothing') break
      }
      if (planted !== 'nothing') break
    }
    if (planted === 'a mute phone') await harness.mute(4000)
    const health = await harness.finish()
    line({ proof: 'floods', live_call: healthFigures(health) })
    return {
      ok: results.every(({ ok }) => ok) && isUnharmed(health),
      summary: { invites: results.reduce((sum, { sent }) => sum + sent, 0), live_call: healthFigures(health) },
    }
  } finally {
    await harness.close()
  }
}

async function flood(
  harness: AttackHarness,
  options: { readonly transport: 'udp' | 'tcp' | 'tls'; readonly who: 'stranger' | 'token'; readonly count: number },
  planted: Planted,
): Promise<{ readonly ok: boolean; readonly sent: number; readonly figures: object }> {
  const { transport, who, count } = options
  const user = who === 'token' || planted === 'a guessed token' ? TOKEN : 'sales'
  const calmMs = await harness.timeNewCall()
  const callsBefore = harness.callsAccepted
  const memory = new Memory()
  const attack = new Attack<SipFloodResult>('sip-flood.ts', {
    transport,
    port: harness.engine.endpoint.port(transport),
    from: ATTACKER,
    sockets: 8,
    count,
    perSecond: PER_SECOND,
    methods: ['INVITE'],
    uri: `sip:${user}@localhost`,
    ca: harness.ca,
    lingerMs: 500,
    awaitsAnswers: who === 'token' && transport !== 'udp',
  } satisfies SipFlood)
  const leaked = planted === 'forgotten memory' ? Buffer.alloc(256 << 20, 1) : undefined
  try {
    const result = await attack.result
    const liveDuring = harness.engine.calls.size
    await attack.end()
    const newcomer = await harness.timeNewCall()
    const used = memory.stop()
    const answered = who === 'stranger' ? result.bytesReceived === 0 : isRefusedAsExpected(transport, result)
    const ok =
      answered &&
      (who === 'token' || harness.callsAccepted === callsBefore + 1) &&
      liveDuring <= MAX_CALLS &&
      AttackHarness.isInTime(newcomer, calmMs) &&
      used.peakGrowth < MAX_GROWTH_DURING &&
      used.endGrowth < MAX_GROWTH_AFTER
    const figures = {
      ok,
      transport,
      who,
      ...result,
      calls_live_at_most: liveDuring,
      calm_answered_ms: calmMs,
      newcomer_answered_ms: newcomer,
      ...memory.figures(),
    }
    return { ok: ok && (leaked?.length ?? 1) > 0, sent: result.sent, figures }
  } finally {
    await attack.end()
  }
}

/** Over TCP and TLS every INVITE is answered. Over UDP some may be lost, but there are no answers other than the expected. */
function isRefusedAsExpected(transport: string, { sent, statuses, retryAfter }: SipFloodResult): boolean {
  const refused = statuses['503'] ?? 0
  const others = Object.keys(statuses).filter(status => !['100', '180', '200', '503'].includes(status))
  const all = refused + MAX_CALLS >= sent
  return refused > 0 && retryAfter === refused && others.length === 0 && (transport === 'udp' || all)
}

export const proof: Proof = { name: 'floods', seconds: 600, count: 20_000, run: options => proveFloods(options) }
