import { writeRtpHeader } from '../../media/src/rtp/rtp-packet.ts'
import type { SrtpKey, SrtpSuite } from '../../media/src/session/media-session.ts'
import { attackSecureCall } from '../../media/src/session/testing/attack-secure-call.ts'
import { SrtpReceiver } from '../../media/src/srtp/srtp-receiver.ts'
import { SrtpSender } from '../../media/src/srtp/srtp-sender.ts'
import { keyAndSaltBytes } from '../../media/src/srtp/srtp-suite.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const SUITES: readonly SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AEAD_AES_256_GCM']
/** Some random packets look like unencrypted RTCP, which is dropped without being counted. */
const MIN_REFUSED_SHARE = 0.97
const RTP_BYTES = 172

/**
 * An attacker who sees the packets of a secure call floods one end with invalid ones, 1000 per second of the call: half are
 * modified real packets, a quarter replayed ones, a quarter random bytes. `count` packets per suite. Every sample of both
 * directions arrives unchanged. The call is in virtual time; the CPU figures are measured.
 */
export async function proveSrtpFlood({ count, seed, line, progress }: ProofOptions): Promise<ProofOutcome> {
  let ok = true
  for (const suite of SUITES) {
    progress(`${count} packets against ${suite}`)
    const baseline = await timed(() => attackSecureCall({ suite, seed, count, peace: true }))
    const attack = await timed(() => attackSecureCall({ suite, seed, count }))
    const { answered, audioUnchanged, callStatisticsUnharmed, rejected, callSeconds } = attack.result
    const refused = rejected.unauthenticated + rejected.replayed + rejected.malformed + rejected.foreign
    const isOk =
      answered === 0 &&
      audioUnchanged &&
      callStatisticsUnharmed &&
      refused >= count * MIN_REFUSED_SHARE &&
      refused <= count
    line({
      proof: 'srtp-flood',
      suite,
      ok: isOk,
      sent: attack.result.sent,
      call_s: Math.round(callSeconds),
      answered,
      audio_unchanged: audioUnchanged,
      call_unharmed: callStatisticsUnharmed,
      rejected,
      cpu_us_per_packet_made_and_refused: round(((attack.cpuMs - baseline.cpuMs) * 1000) / count),
      cpu_us_per_packet_refused: round(refusalCost(suite, Math.min(count, 100_000))),
    })
    ok &&= isOk
  }
  return { ok, summary: { packets: count * SUITES.length } }
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly cpuMs: number }> {
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return { result, cpuMs: (user + system) / 1000 }
}

/** CPU that one packet with a wrong tag costs, microseconds. */
function refusalCost(suite: SrtpSuite, count: number): number {
  const key: SrtpKey = { suite, keyAndSalt: new Uint8Array(keyAndSaltBytes(suite)).fill(7) }
  const receiver = new SrtpReceiver(key)
  const sender = new SrtpSender(key)
  const packet = new Uint8Array(RTP_BYTES + 16)
  const genuine = (sequence: number) => {
    writeRtpHeader(packet, 0, false, sequence, sequence * 160, 9)
    return sender.protect(packet, RTP_BYTES)
  }
  receiver.unprotect(packet, genuine(1))
  const length = genuine(2)
  packet[length - 1]! ^= 1
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++)
    if (receiver.unprotect(packet, length) > 0) throw new Error('a packet with a wrong tag was accepted')
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

function round(microseconds: number): number {
  return Math.round(microseconds * 10) / 10
}

export const proof: Proof = { name: 'srtp-flood', seconds: 600, count: 1_000_000, run: proveSrtpFlood }
