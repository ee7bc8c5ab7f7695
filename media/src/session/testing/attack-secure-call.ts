import type { MediaStatistics, SrtpSuite } from '../media-session.ts'
import { Attacker } from './attacker.ts'
import { VirtualCall, type VirtualEnd } from './virtual-call.ts'

interface AttackOptions {
  readonly suite: SrtpSuite
  readonly seed: number
  /** Packets that the third party sends: half forged from real ones, a quarter replayed, a quarter noise. */
  readonly count: number
  /** Nothing is sent: the same call left in peace, to compare with. */
  readonly peace?: boolean
}

interface AttackResult {
  readonly sent: number
  /** How long the call lasted, in its own time. */
  readonly callSeconds: number
  /** Packets that anybody sent to the third party. */
  readonly answered: number
  /** Both ends heard every sample as it was said, without a gap. */
  readonly audioUnchanged: boolean
  /** Every packet of the peer was taken, none concealed or counted lost. */
  readonly callStatisticsUnharmed: boolean
  readonly rejected: MediaStatistics['rejected']
}

/** A third party that sees a secure call's packets sprays one end while both talk, 1000 packets per second of the call. */
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
  return heard === talking.said && brokenAt < 0 && gaps === 0
}
