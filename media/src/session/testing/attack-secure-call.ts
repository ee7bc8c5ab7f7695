import type { MediaStatistics, SrtpSuite } from '../media-session.ts'
import { Attacker } from './attacker.ts'
import { VirtualCall, type VirtualEnd } from './virtual-call.ts'

interface AttackOptions {
  readonly suite: SrtpSuite
  readonly seed: number
  /** Packets that the third party sends: half forged from real ones, a quarter replayed, a quarter noise. */
  readonly count: number
  /** Whether to send nothing: the same call without the attack, for comparison. */
  readonly peace?: boolean
}

interface AttackResult {
  readonly sent: number
  /** Duration of the call, in virtual time. */
  readonly callSeconds: number
  /** Packets sent to the third party. */
  readonly answered: number
  /** Whether both ends received every sample unchanged and without a gap. */
  readonly audioUnchanged: boolean
  /** Whether every packet of the peer was accepted, none concealed or counted as lost. */
  readonly callStatisticsUnharmed: boolean
  readonly rejected: MediaStatistics['rejected']
}

/**
 * A third party that sees a secure call's packets sends packets to one end while both ends talk, 1000 per second of the
 * call.
 */
export async function attackSecureCall(options: AttackOptions): Promise<AttackResult> {
  const { suite, seed, count } = options
  const call = await VirtualCall.start({ suite, seed })
  const attacker = new Attacker(call.network, call.random)
  attacker.eavesdrop(call.network, call.b.session)
  call.a.talking = true
  call.b.talking = true
  call.run(1000)
  for (let sent = 0; sent < count; ) {
    for (let burst = 0; burst < 100 && sent < count; burst++, sent++) {
      if (options.peace === true) continue
      if (sent % 4 < 2) attacker.forge(call.b.session)
      else if (sent % 4 === 2) attacker.replay(call.b.session)
      else attacker.noise(call.b.session)
    }
    call.run(100)
  }
  call.a.talking = false
  call.b.talking = false
  call.run(1000)
  const [a, b] = [await call.a.session.statistics(), await call.b.session.statistics()]
  const underWay = a.packetsSent - b.packetsReceived
  return {
    sent: options.peace === true ? 0 : count,
    callSeconds: call.time.now() / 1000 - 5,
    answered: attacker.received,
    audioUnchanged: heardAll(call.b, call.a) && heardAll(call.a, call.b),
    callStatisticsUnharmed: underWay >= 0 && underWay <= 1 && b.packetsLost === 0 && b.concealedSamples === 0,
    rejected: b.rejected,
  }
}

function heardAll(listening: VirtualEnd, talking: VirtualEnd): boolean {
  const { heard, brokenAt, gaps } = listening.listener
  return heard === talking.sentSamples && brokenAt < 0 && gaps === 0
}
