// The other end of all calls. It sends one SRTP packet per call every 20 ms, prepared beforehand so that sending costs little, and
// records the kernel's timestamps of the packets that it receives.
import { encodePcmu } from '@parley/media'
import {
  isRtcp,
  NativePacketIo,
  PACKET_SLOT_BYTES,
  PacketBatch,
  parseIpv4,
  SrtpReceiver,
  SrtpSender,
  writeRtpHeader,
} from '@parley/media/testing'
import { SyntheticSound } from '../../../media/src/dsp/testing/synthetic-sound.ts'
import { CallLateness, quantiles } from './lateness.ts'
import type { CallKeys, PeerMeasures, PeerReply, PeerRequest } from './messages.ts'

const LOOPBACK = '127.0.0.1'
const FRAME = 160
const PACKET_MS = 20
const WAKE_MS = 2.5
const PACKET_BYTES = 12 + FRAME + 10
const SPEECH_MS = 4000
/** One packet in 25 is decrypted, as a check. */
const VERIFY_EVERY = 25
/** Sending may continue a little after the measured time. */
const SPARE_MS = 3000

interface Call {
  readonly socket: number
  readonly subjectPort: number
  readonly packets: Uint8Array
  readonly receiver: SrtpReceiver
  nextAt: number
  sent: number
  received: number
}

const io = new NativePacketIo()
const outgoing = new PacketBatch(64)
const incoming = new PacketBatch(256)
const ipv4 = parseIpv4(LOOPBACK)!
const calls: Call[] = []
const bySocket = new Map<number, Call>()

/** Speech with pauses, so that voice activity has to work. */
function speech(): Uint8Array {
  const sound = new SyntheticSound(SPEECH_MS)
  for (let ms = 0; ms < SPEECH_MS; ms += 2000) sound.vowel(ms, ms + 1200, -20, { syllables: true })
  const encoded = new Uint8Array(sound.samples.length)
  encodePcmu(sound.samples, 0, sound.samples.length, encoded, 0)
  return encoded
}

function prepare(audio: Uint8Array, keys: CallKeys, call: number, count: number): Uint8Array {
  const sender = new SrtpSender(keys.toSubject)
  const packet = new Uint8Array(PACKET_SLOT_BYTES)
  const prepared = new Uint8Array(count * PACKET_BYTES)
  for (let i = 0; i < count; i++) {
    const from = (i * FRAME) % audio.length
    writeRtpHeader(packet, 0, i === 0, i & 0xffff, i * FRAME, call + 1)
    packet.set(audio.subarray(from, from + FRAME), 12)
    sender.protect(packet, 12 + FRAME)
    prepared.set(packet.subarray(0, PACKET_BYTES), i * PACKET_BYTES)
  }
  return prepared
}

async function bind({ subjectPorts, keys, seconds }: Extract<PeerRequest, { type: 'bind' }>): Promise<number[]> {
  const audio = speech()
  const count = Math.ceil((seconds * 1000 + SPARE_MS) / PACKET_MS)
  for (const [i, subjectPort] of subjectPorts.entries()) {
    const socket = await io.open(LOOPBACK, 0)
    const call: Call = {
      socket,
      subjectPort,
      packets: prepare(audio, keys[i]!, i, count),
      receiver: new SrtpReceiver(keys[i]!.toPeer),
      nextAt: 0,
      sent: 0,
      received: 0,
    }
    calls.push(call)
    bySocket.set(socket, call)
  }
  return calls.map(call => io.port(call.socket))
}

function sendDue(now: number): void {
  let filled = 0
  for (const call of calls) {
    if (call.nextAt > now) continue
    const start = (call.sent++ * PACKET_BYTES) % call.packets.length
    outgoing.slots[filled]!.set(call.packets.subarray(start, start + PACKET_BYTES))
    outgoing.length[filled] = PACKET_BYTES
    outgoing.socket[filled] = call.socket
    outgoing.ipv4[filled] = ipv4
    outgoing.port[filled] = call.subjectPort
    call.nextAt += PACKET_MS
    if (++filled < outgoing.capacity) continue
    io.send(outgoing, filled)
    filled = 0
  }
  if (filled > 0) io.send(outgoing, filled)
}

async function run(warmUpMs: number, measureMs: number): Promise<PeerMeasures> {
  const mostPackets = Math.ceil(measureMs / PACKET_MS) + 4
  const lateness = new Map(calls.map(call => [call, new CallLateness(mostPackets)] as const))
  const began = io.now()
  const [from, until] = [began + warmUpMs, began + warmUpMs + measureMs]
  let packets = 0
  let unauthentic = 0
  let measuredFrom: { readonly cpu: NodeJS.CpuUsage; readonly sent: number } | null = null
  calls.forEach((call, i) => {
    call.nextAt = began + (i * PACKET_MS) / calls.length
  })
  for (let at = began; at < until; at = Math.max(at + WAKE_MS, io.now())) {
    await io.wait(at)
    sendDue(io.now())
    for (let n = io.poll(incoming); n > 0; n = io.poll(incoming)) {
      for (let i = 0; i < n; i++) {
        const call = bySocket.get(incoming.socket[i]!)!
        const packet = incoming.slots[i]!
        const length = incoming.length[i]!
        // Reports of another call: they go to the port above that call's, which may be this one.
        if (length < 12 || isRtcp(packet, length)) continue
        const timestamp = ((packet[4]! << 24) | (packet[5]! << 16) | (packet[6]! << 8) | packet[7]!) >>> 0
        if (call.received++ % VERIFY_EVERY === 0 && call.receiver.unprotect(packet, length) !== 12 + FRAME)
          unauthentic++
        const arrivedAt = incoming.arrivedAt[i]!
        if (arrivedAt < from || arrivedAt >= until) continue
        packets++
        lateness.get(call)!.add(timestamp, arrivedAt)
      }
    }
    if (measuredFrom !== null || io.now() < from) continue
    measuredFrom = { cpu: process.cpuUsage(), sent: io.counters.sent }
    send({ type: 'measuring' })
  }
  const { user, system } = process.cpuUsage(measuredFrom?.cpu)
  const sent = io.counters.sent - (measuredFrom?.sent ?? 0)
  const all: number[] = []
  let missing = 0
  for (const call of calls) missing += lateness.get(call)!.collect(all)
  return {
    packets,
    missing,
    unauthentic,
    receiveDropped: io.counters.receiveDropped,
    sent,
    cpuShare: (user + system) / 1000 / measureMs,
    latenessMs: quantiles(all),
  }
}

async function answer(request: PeerRequest): Promise<PeerReply> {
  if (request.type === 'bind') return { type: 'bound', ports: await bind(request) }
  return { type: 'done', heard: await run(request.warmUpMs, request.measureMs) }
}

function send(reply: PeerReply): void {
  process.send!(reply)
}

process.on('message', (request: PeerRequest) => {
  void answer(request).then(send)
})
process.on('disconnect', () => process.exit())
