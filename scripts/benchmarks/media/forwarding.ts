import { encodePcmu } from '@parley/media'
import {
  isRtcp,
  NativePacketIo,
  PacketBatch,
  parseIpv4,
  SrtpReceiver,
  SyntheticSound,
  writeRtpHeader,
} from '@parley/media/testing'
import { Rtpengine } from './rtpengine.ts'

const LOOPBACK = '127.0.0.1'
const FRAME = 160
const PACKET_BYTES = 12 + FRAME
const PACKET_MS = 20
const WAKE_MS = 2.5
/** Time for the last packets to arrive. */
const LATE_MS = 500
const SPEECH_MS = 4000
/** One packet in 25 is decrypted, as a check. */
const VERIFY_EVERY = 25
/** Share of the packets that must arrive for the figures to count. */
const LEAST_FORWARDED = 0.99

interface ForwardedCall {
  readonly from: number
  readonly port: number
  readonly receiver: SrtpReceiver
  nextAt: number
  sent: number
  received: number
}

export interface ForwardingFigures {
  readonly peer: 'rtpengine'
  readonly calls: number
  readonly seconds: number
  readonly packets: number
  /** User and system time of its process per forwarded packet. */
  readonly us_per_packet: number
}

/** CPU that rtpengine takes to forward one packet of RTP as SRTP, in user space, at one packet per call and 20 ms. */
export async function measureForwarding(options: {
  readonly calls: number
  readonly warmUpMs: number
  readonly measureMs: number
}): Promise<ForwardingFigures> {
  const engine = await Rtpengine.start()
  const io = new NativePacketIo()
  const sockets: number[] = []
  try {
    const calls = new Map<number, ForwardedCall>()
    for (let i = 0; i < options.calls; i++) {
      const [from, to] = [await io.open(LOOPBACK, 0), await io.open(LOOPBACK, 0)]
      sockets.push(from, to)
      const { port, keyAndSalt } = await engine.call(`call-${i}`, io.port(from), io.port(to))
      const receiver = new SrtpReceiver({ suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt })
      calls.set(to, { from, port, receiver, nextAt: 0, sent: 0, received: 0 })
    }
    return await forward(engine, io, calls, options)
  } finally {
    for (const socket of sockets) io.close(socket)
    await engine.close()
  }
}

async function forward(
  engine: Rtpengine,
  io: NativePacketIo,
  calls: ReadonlyMap<number, ForwardedCall>,
  { warmUpMs, measureMs }: { readonly warmUpMs: number; readonly measureMs: number },
): Promise<ForwardingFigures> {
  const incoming = new PacketBatch(256)
  const sender = new PlainSender(io)
  const all = [...calls.values()]
  const began = io.now()
  all.forEach((call, i) => {
    call.nextAt = began + (i * PACKET_MS) / all.length
  })
  const [from, until] = [began + warmUpMs, began + warmUpMs + measureMs]
  let before: { readonly cpuMs: number; readonly sent: number } | null = null
  let packets = 0
  const sent = () => all.reduce((total, call) => total + call.sent, 0)
  const receive = () => {
    for (let count = io.poll(incoming); count > 0; count = io.poll(incoming)) {
      for (let i = 0; i < count; i++) {
        if (!isForwarded(calls.get(incoming.socket[i]!), incoming.slots[i]!, incoming.length[i]!)) continue
        if (before !== null) packets++
      }
    }
  }
  for (let at = began; at < until; at = Math.max(at + WAKE_MS, io.now())) {
    await io.wait(at)
    sender.sendDue(all, io.now())
    receive()
    if (before === null && io.now() >= from) before = { cpuMs: engine.cpuMs(), sent: sent() }
  }
  const forwardable = sent() - before!.sent
  for (const end = io.now() + LATE_MS; packets < forwardable && io.now() < end; receive())
    await io.wait(io.now() + WAKE_MS)
  const cpuMs = engine.cpuMs() - before!.cpuMs
  if (packets < LEAST_FORWARDED * forwardable)
    throw new Error(`rtpengine forwarded ${packets} of ${forwardable} packets, too few to compare`)
  const usPerPacket = Math.round((cpuMs * 100_000) / packets) / 100
  return { peer: 'rtpengine', calls: all.length, seconds: measureMs / 1000, packets, us_per_packet: usPerPacket }
}

/** Whether this is a packet of audio; throws when one of those that are checked is not authentic. */
function isForwarded(call: ForwardedCall | undefined, packet: Uint8Array, length: number): boolean {
  if (call === undefined || length < 12 || isRtcp(packet, length)) return false
  if (call.received++ % VERIFY_EVERY === 0 && call.receiver.unprotect(packet, length) !== PACKET_BYTES)
    throw new Error('rtpengine sent a packet that is not authentic')
  return true
}

/** Sends each call a packet of plain RTP per 20 ms. */
class PlainSender {
  readonly #io: NativePacketIo
  readonly #outgoing = new PacketBatch(64)
  readonly #ipv4 = parseIpv4(LOOPBACK)!
  readonly #audio: Uint8Array

  constructor(io: NativePacketIo) {
    this.#io = io
    const sound = new SyntheticSound(SPEECH_MS)
    for (let ms = 0; ms < SPEECH_MS; ms += 2000) sound.vowel(ms, ms + 1200, -20, { syllables: true })
    this.#audio = new Uint8Array(sound.samples.length)
    encodePcmu(sound.samples, 0, sound.samples.length, this.#audio, 0)
  }

  sendDue(calls: readonly ForwardedCall[], now: number): void {
    const outgoing = this.#outgoing
    let filled = 0
    for (const [i, call] of calls.entries()) {
      if (call.nextAt > now) continue
      const at = (call.sent * FRAME) % this.#audio.length
      const packet = outgoing.slots[filled]!
      writeRtpHeader(packet, 0, call.sent === 0, call.sent & 0xffff, call.sent * FRAME, i + 1)
      packet.set(this.#audio.subarray(at, at + FRAME), 12)
      outgoing.length[filled] = PACKET_BYTES
      outgoing.socket[filled] = call.from
      outgoing.ipv4[filled] = this.#ipv4
      outgoing.port[filled] = call.port
      call.sent++
      call.nextAt += PACKET_MS
      if (++filled < outgoing.capacity) continue
      this.#io.send(outgoing, filled)
      filled = 0
    }
    if (filled > 0) this.#io.send(outgoing, filled)
  }
}
