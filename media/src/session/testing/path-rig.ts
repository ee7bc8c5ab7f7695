import { type Ms, NARROWBAND, SeededRandom } from '@parley/kernel'
import { PacketBatch } from '../../packet-io/packet-io.ts'
import { allocateRecordingRing, RecordingRing, RecordingRingReader } from '../../recorder/recording-ring.ts'
import type { SrtpTransforms } from '../../srtp/srtp-transform.ts'
import { LEFT, type MediaPath, type PathCalls } from '../media-path.ts'
import { MediaSessionCore } from '../media-session-core.ts'
import { SessionRings } from '../session-rings.ts'

const OPENED_MS: Ms = 1000
/** More than arrive in a stall. */
const BATCH_PACKETS = 128
const RTP_SOCKET = 7
const RTCP_SOCKET = 8

/** A packet on its way to a call. */
export interface ArrivingPacket {
  readonly at: Ms
  readonly bytes: Uint8Array
  readonly ipv4: number
  readonly port: number
  readonly isOnRtcpPort: boolean
}

/** One call over a media path, driven as a media thread drives it; what it sends, reports and records is collected. */
export class PathRig {
  readonly core: MediaSessionCore
  readonly rings = new SessionRings()
  /** Packets that went through the path, and those of them that it left to the core. */
  packets = 0
  left = 0
  /** Steps that went through the path, and those of them that it left to the core. */
  advances = 0
  advancesLeft = 0
  /** IPv4 addresses that something was sent to. */
  readonly destinations = new Set<number>()
  /** What was sent and reported since the last `takeOutput`. */
  #output: string[] = []
  readonly #path: MediaPath
  readonly #id: number
  readonly #recording = allocateRecordingRing(NARROWBAND)
  readonly #reader = new RecordingRingReader(this.#recording)
  readonly #batch = new PacketBatch(BATCH_PACKETS)
  readonly #left = new Uint8Array(BATCH_PACKETS)
  readonly #calls: PathCalls
  readonly #heard = new Int16Array(4096)

  constructor(path: MediaPath, transforms: SrtpTransforms, seed: number) {
    this.#path = path
    this.core = new MediaSessionCore({
      openedAtMs: OPENED_MS,
      openedAtUnixMs: 1e12,
      rings: this.rings,
      recorder: new RecordingRing(this.#recording),
      random: new SeededRandom(seed),
      transforms,
      emit: event => this.#output.push(JSON.stringify(event)),
    })
    this.#id = path.add(this.core, RTP_SOCKET, RTCP_SOCKET)
    this.#calls = {
      ids: Int32Array.of(this.#id),
      slotMs: new Float64Array(1),
      outcome: new Int8Array(1),
      due: new Uint8Array(1),
      left: new Uint8Array(1),
    }
  }

  /** The call's slot: what it sends is output. */
  send(slotMs: Ms, nowMs: Ms): void {
    const { core } = this
    const batch = this.#batch
    this.#calls.slotMs[0] = slotMs
    const filled = this.#path.compose(this.#calls, 0, 1, nowMs, batch, 0)
    this.packets++
    if (filled > 0) this.#sent('rtp', 0, batch.length[0]!, batch.ipv4[0]!, batch.port[0]!)
    if (this.#calls.outcome[0] === LEFT) {
      this.left++
      const length = core.tick(slotMs, batch.slots[0]!)
      if (length > 0) this.#sent('rtp', 0, length, core.ipv4, core.port)
    }
    if (this.#calls.due[0] === 0) return
    const report = core.tickRtcp(nowMs, batch.slots[0]!)
    if (report > 0) this.#sent('rtcp', 0, report, core.rtcpIpv4, core.rtcpPort)
  }

  /** Packets of one poll. */
  receive(packets: readonly ArrivingPacket[]): void {
    const batch = this.#batch
    for (const [i, { at, bytes, ipv4, port, isOnRtcpPort }] of packets.entries()) {
      batch.slots[i]!.set(bytes)
      batch.length[i] = bytes.length
      batch.socket[i] = isOnRtcpPort ? RTCP_SOCKET : RTP_SOCKET
      batch.ipv4[i] = ipv4
      batch.port[i] = port
      batch.arrivedAt[i] = at
    }
    this.#path.receive(batch, packets.length, this.#left)
    for (const [i, { at, bytes, ipv4, port, isOnRtcpPort }] of packets.entries()) {
      if (!isOnRtcpPort) this.packets++
      if (this.#left[i] === 0) continue
      if (isOnRtcpPort) this.core.receiveRtcp(at, batch.slots[i]!, bytes.length, ipv4, port)
      else {
        this.left++
        this.core.receive(at, batch.slots[i]!, bytes.length, ipv4, port)
      }
    }
  }

  advance(nowMs: Ms): void {
    this.advances++
    if (this.#path.advance(this.#calls, 1, nowMs) === 0) return
    this.advancesLeft++
    this.core.advance(nowMs)
  }

  /** What the call's owner and the recording's writer would get: sound, edges of voice, recorded bytes. */
  read(): void {
    const count = this.rings.readHeard(this.#heard)
    this.#output.push(`heard ${hex(this.#heard.subarray(0, count))}`)
    for (let edge = this.rings.nextVoiceEdge(); edge !== null; edge = this.rings.nextVoiceEdge())
      this.#output.push(JSON.stringify(edge))
    const frames = this.#reader.available(false)
    const recorded = new Uint8Array(2 * frames)
    this.#reader.copy(recorded, frames, false)
    this.#reader.release(frames)
    this.#output.push(`recorded ${hex(recorded)}`)
  }

  takeOutput(): string[] {
    const output = this.#output
    this.#output = []
    return [...output, JSON.stringify(this.core.statistics()), `taken ${this.rings.outboundTaken()}`, ...this.#state()]
  }

  /** The shared state, without what only a native path uses (whether it may, and its replay windows). */
  #state(): string[] {
    const { latch, reception, sequence, counters, watchdog, intervals } = this.core.page
    const { reports, stream, voice, inbound, outbound } = this.core.page
    const { state, clock, skew, concealment, reorder } = stream
    const numbers = { latch, reception, sequence, counters, watchdog, intervals, reports, state, clock, skew }
    const words = {
      ...numbers,
      inbound: inbound.subarray(2),
      outbound: outbound.subarray(2),
      concealed: concealment.state,
      reorder: reorder.state,
      reordered: reorder.sequence,
      seen: reorder.seen,
      voice: voice.state,
      cues: voice.cues.state,
    }
    const samples = [concealment.history, concealment.source, voice.frame, voice.cues.last, voice.cues.decimated]
    return [...Object.entries(words).map(([name, of]) => `${name} ${of.join(' ')}`), ...samples.map(of => of.join(' '))]
  }

  /** Changes one bit of the replay window of the source that is heard. */
  flipReplayBit(sequence: number): void {
    const { opened } = this.core.page
    const word = 1 + ((sequence >>> 5) & 7)
    opened[word] = (opened[word]! ^ (1 << (sequence & 31))) >>> 0
  }

  close(nowMs: Ms): void {
    const length = this.core.close(nowMs, this.#batch.slots[0]!)
    if (length > 0) this.#sent('rtcp', 0, length, this.core.rtcpIpv4, this.core.rtcpPort)
    this.#path.remove(this.#id)
  }

  #sent(kind: string, slot: number, length: number, ipv4: number, port: number): void {
    this.destinations.add(ipv4)
    this.#output.push(`${kind} ${ipv4}:${port} ${hex(this.#batch.slots[slot]!.subarray(0, length))}`)
  }
}

function hex(of: Int16Array | Uint8Array): string {
  return Buffer.from(of.buffer, of.byteOffset, of.byteLength).toString('hex')
}
