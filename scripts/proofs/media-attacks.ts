import type { Ms } from '@parley/kernel'
import type { LegSecurity } from '@parley/leg'
import { Attack } from './attacks/attack.ts'
import { ATTACKER, AttackHarness, healthFigures, isUnharmed } from './attacks/attack-harness.ts'
import type { MediaSpray, MediaSprayResult } from './attacks/media-spray.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const PER_SECOND = 20_000
const CALL_PACKETS_PER_SECOND = 50
/**
 * A machine on which the attacker waited longer for the processor was busy with other things. Its garbage collections, whose helping
 * threads wait as well, stop a media thread for longer than the queue of a socket has room for at this rate.
 */
const BUSY_MS: Ms = 10
/** A call that was harmed on a busy machine is made again, this many times in all. What the attack alone does happens each time. */
const ATTEMPTS = 3

/**
 * A third party sends packets to the RTP port of a live call, with SRTP and with plain RTP: plausible RTP, RTCP BYE and random
 * bytes, from another address and from another port of the caller's address. No packet is accepted or answered, and the call
 * continues. `count` packets against each call.
 */
export async function proveMediaAttacks(
  options: ProofOptions,
  planted: 'nothing' | 'a mute phone' | 'a packet for the attacker' = 'nothing',
): Promise<ProofOutcome> {
  const { line, progress } = options
  let ok = true
  let packets = 0
  for (const security of ['srtp-required', 'rtp-only'] as const) {
    progress(`${options.count} packets against a call (${security})`)
    let result = await attackCall(security, options, planted)
    line({ proof: 'media-attacks', security, ...result.figures })
    for (let attempt = 2; attempt <= ATTEMPTS && result.isOnlyHarmed && result.wasBusy; attempt++) {
      progress('again, because the machine was busy with other things')
      result = await attackCall(security, options, planted)
      line({ proof: 'media-attacks', security, attempt, ...result.figures })
    }
    ok &&= result.ok
    packets += result.sent
    if (planted !== 'nothing') break
  }
  return { ok, summary: { packets } }
}

async function attackCall(security: LegSecurity, { count, seed }: ProofOptions, planted: string) {
  const harness = await AttackHarness.open({ security })
  const attack = new Attack<MediaSprayResult>('media-spray.ts', {
    port: harness.rtpPort,
    from: [ATTACKER, '127.0.0.1'],
    count,
    perSecond: PER_SECOND,
    seed,
  } satisfies MediaSpray)
  try {
    const before = await harness.statistics()
    const began = performance.now()
    const result = await attack.result
    if (planted === 'a mute phone') await harness.mute(4000)
    const seconds = (performance.now() - began) / 1000
    const after = await harness.statistics()
    const health = await harness.finish()
    const received = after.packetsReceived - before.packetsReceived
    const rejected = Object.values(after.rejected).reduce((sum, count) => sum + count, 0)
    // Accepted packets of the attacker would add to those of the phone.
    const accepted = Math.max(0, received - Math.ceil((seconds + 1) * CALL_PACKETS_PER_SECOND))
    const answered = result.received + (planted === 'a packet for the attacker' ? 1 : 0)
    const isRefused = accepted === 0 && answered === 0 && rejected > 0
    const ok = isRefused && isUnharmed(health)
    const figures = { ok, ...result, accepted, rejected: after.rejected, live_call: healthFigures(health) }
    return { ok, isOnlyHarmed: isRefused && !ok, wasBusy: result.longestWaitMs > BUSY_MS, sent: result.sent, figures }
  } finally {
    await attack.end()
    await harness.close()
  }
}

export const proof: Proof = {
  name: 'media-attacks',
  seconds: 600,
  count: 1_000_000,
  run: options => proveMediaAttacks(options),
}
