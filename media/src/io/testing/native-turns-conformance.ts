import assert from 'node:assert/strict'
import { type Ms, NARROWBAND, randomBelow, SeededRandom } from '@parley/kernel'
import { decodePcmu, encodePcmu } from '../../codec/g711.ts'
import { SyntheticSound } from '../../dsp/testing/synthetic-sound.ts'
import { PacketBatch } from '../../packet-io/packet-io.ts'
import { allocateRecordingRing, RecordingRing } from '../../recorder/recording-ring.ts'
import { RtpHeader, readRtpHeader } from '../../rtp/rtp-packet.ts'
import { MediaSessionCore } from '../../session/media-session-core.ts'
import { type SendSlot, SendSlots, WAKE_MS } from '../../session/send-slots.ts'
import { SessionRings } from '../../session/session-rings.ts'
import { pcmuCall } from '../../session/testing/call-parameters.ts'
import { keyAndSaltBytes } from '../../srtp/srtp-suite.ts'
import type { SrtpTransforms } from '../../srtp/srtp-transform.ts'
import type { NativeAddon, NativeSockets } from '../native-packet-io.ts'
import { nativeTransforms } from '../native-srtp.ts'
import { type LeftCall, TurnsRig } from './turns-rig.ts'

const LOOPBACK = 0x7f00_0001
const SUITE = 'AES_CM_128_HMAC_SHA1_80'
const PACKET_TIMES = [10, 20, 20, 20, 30, 40, 50, 60] as const
/** More than are left at once, so that a wake is left in parts. */
const MOST_CALLS = 300
const ROUNDS = 25
const MOST_WAKES_AT_ONCE = 60
const CALL_ROUNDS = 20
const FRAME = 160
/** The peer runs ahead of its time by this. */
const AHEAD_MS: Ms = 60
const NO_SOCKET = 0x7fff_ffff
/** A machine that holds the thread up for 40 ms makes a gap; the promise is about a call without one. */
const ATTEMPTS = 20

interface PlacedCall {
  readonly pathId: number
}

/** The calls of each wake, their slots and how many were missed are those of `SendSlots`, for any calls, changes and pauses. */
export async function checkSlots(addon: NativeAddon): Promise<void> {
  const random = new SeededRandom(5)
  const rig = new TurnsRig(addon)
  const model = new SendSlots<PlacedCall>()
  const calls: { readonly owner: PlacedCall; readonly slot: SendSlot<PlacedCall> }[] = []
  const place = (owner: PlacedCall) => {
    const slot = model.add(owner, PACKET_TIMES[randomBelow(random, PACKET_TIMES.length)]!)
    rig.turns.place(owner.pathId, slot)
    return { owner, slot }
  }
  let compared = 0
  for (let round = 0; round < ROUNDS; round++) {
    model.pass(rig.turns.lastWake)
    for (let i = randomBelow(random, 40); i > 0 && calls.length < MOST_CALLS; i--)
      calls.push(place({ pathId: rig.path.add(coreOf(0, 1, new SessionRings()), NO_SOCKET, NO_SOCKET) }))
    for (let i = randomBelow(random, 8); i > 0 && calls.length > 0; i--) {
      const at = randomBelow(random, calls.length)
      const { owner, slot } = calls[at]!
      model.remove(slot)
      if (randomBelow(random, 2) === 0) calls[at] = place(owner)
      else {
        rig.turns.place(owner.pathId, null)
        rig.path.remove(owner.pathId)
        calls.splice(at, 1)
      }
    }
    rig.moveTo(rig.turns.lastWake + 1 + randomBelow(random, MOST_WAKES_AT_ONCE))
    compared += await compareWakes(rig, model)
  }
  assert.ok(compared > 1000, `only ${compared} slots were compared`)
}

/** Runs wakes of 20 ms; returns how many calls they left. */
async function compareWakes(rig: TurnsRig, model: SendSlots<PlacedCall>): Promise<number> {
  let swept: LeftCall[] = []
  let wakeOfSwept = -1
  let compared = 0
  let advanced: number[] = []
  const finish = () => {
    if (wakeOfSwept < 0) return
    const expected: LeftCall[] = []
    model.sweep(wakeOfSwept, ({ pathId }, slotWake, missed) => {
      expected.push({ pathId, slotMs: rig.gridStart + slotWake * WAKE_MS, missed, isSent: false })
    })
    assert.deepEqual(swept, expected)
    assert.deepEqual(
      advanced,
      expected.map(({ pathId }) => pathId),
    )
    compared += expected.length
    swept = []
    advanced = []
    wakeOfSwept = -1
  }
  await rig.run({
    toSend: left => {
      if (rig.turns.lastWake !== wakeOfSwept) finish()
      wakeOfSwept = rig.turns.lastWake
      swept.push(...left)
    },
    received: () => assert.fail('nothing was sent'),
    toAdvance: left => advanced.push(...left.map(({ pathId }) => pathId)),
  })
  finish()
  return compared
}

/**
 * A call whose wakes are in C++ sends byte for byte what the portable path composes for the same slots, and hears every sample that its
 * peer sends.
 */
export async function checkCall(addon: NativeAddon): Promise<void> {
  let why = ''
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const call = new CallOverLoopback(addon, attempt)
    try {
      for (let round = 0; round < CALL_ROUNDS; round++) await call.round()
      await call.takeAll()
      call.compareSent()
      why = call.compareHeard()
      if (why === '') return
    } finally {
      call.close()
    }
  }
  assert.fail(why)
}

/** A call in the native path, its portable twin that only composes, and its peer. */
class CallOverLoopback {
  readonly #rig: TurnsRig
  readonly #peerSockets: NativeSockets
  readonly #socket: number
  readonly #rtcpSocket: number
  readonly #peerSocket: number
  readonly #native: MediaSessionCore
  readonly #twin: MediaSessionCore
  readonly #peer: MediaSessionCore
  readonly #heard = new SessionRings()
  readonly #speech = new SyntheticSound(1000).vowel(0, 1000, -20, { syllables: true }).samples
  readonly #id: number
  readonly #one = new PacketBatch(1)
  readonly #many = new PacketBatch(64)
  /** What arrived at the peer, oldest first. */
  readonly #sent: Uint8Array[] = []
  #peerSlots = 0
  #peerSent = 0
  #left = 0
  /** Of the first packet, which is left: nothing was sent before that could go on. */
  #firstSlotMs: Ms = Number.NaN

  constructor(addon: NativeAddon, seed: number) {
    const random = new SeededRandom(seed)
    this.#rig = new TurnsRig(addon)
    this.#peerSockets = new addon.PacketIo(performance.now())
    const { sockets } = this.#rig
    this.#socket = sockets.open(LOOPBACK, 0)
    this.#rtcpSocket = sockets.open(LOOPBACK, 0)
    this.#peerSocket = this.#peerSockets.open(LOOPBACK, 0)
    this.#rig.moveTo(1)
    const twinRings = new SessionRings()
    const peerRings = new SessionRings()
    this.#native = coreOf(this.#rig.gridStart, seed, this.#heard, nativeTransforms(addon))
    this.#twin = coreOf(this.#rig.gridStart, seed, twinRings)
    this.#peer = coreOf(this.#rig.gridStart, seed + 1, peerRings)
    for (const rings of [this.#heard, twinRings, peerRings]) rings.writeOutbound(this.#speech, 0)
    this.#id = this.#rig.path.add(this.#native, this.#socket, this.#rtcpSocket)
    this.#rig.turns.place(this.#id, new SendSlots<null>(1).add(null, 20))
    const [here, there] = [1, 2].map(
      () => ({ suite: SUITE, keyAndSalt: random.bytes(keyAndSaltBytes(SUITE)) }) as const,
    )
    const peerPort = this.#peerSockets.port(this.#peerSocket)
    for (const core of [this.#native, this.#twin])
      core.apply(this.#rig.gridStart, pcmuCall(peerPort, { send: here!, receive: there! }))
    this.#peer.apply(this.#rig.gridStart, pcmuCall(sockets.port(this.#socket), { send: there!, receive: here! }))
  }

  /** The peer sends what is due, at first some packets at once, and the thread wakes for 20 ms. */
  async round(): Promise<void> {
    for (; this.#peerSlots * 20 < performance.now() - this.#rig.gridStart + AHEAD_MS; this.#peerSlots++) {
      const length = this.#peer.tick(this.#rig.gridStart + this.#peerSlots * 20, this.#one.slots[0]!)
      this.#send(this.#peerSockets, this.#peerSocket, length, this.#rig.sockets.port(this.#socket))
      this.#peerSent++
    }
    await this.#wake()
  }

  /** Wakes until the last packets of the peer are taken: on loopback none gets lost. */
  async takeAll(): Promise<void> {
    const received = () => this.#native.statistics().packetsReceived
    for (let i = 0; i < CALL_ROUNDS && received() < this.#peerSent; i++) await this.#wake()
    assert.equal(received(), this.#peerSent)
  }

  async #wake(): Promise<void> {
    await this.#rig.run({
      toSend: calls => this.#tick(calls),
      received: (packets, count) => this.#receive(packets, count),
      toAdvance: () => this.#native.advance(performance.now()),
    })
    const many = this.#many
    const count = this.#peerSockets.poll(many.bytes, many.length, many.socket, many.ipv4, many.port, many.arrivedAt)
    for (let i = 0; i < count; i++) this.#sent.push(many.slots[i]!.slice(0, many.length[i]!))
  }

  /** The twin composes for the same slots: they are a packet time apart, or several where the thread was held up. */
  compareSent(): void {
    const header = new RtpHeader()
    const composed = new Uint8Array(1536)
    let slotMs = this.#firstSlotMs
    let timestamp: number | null = null
    assert.ok(this.#sent.length > CALL_ROUNDS / 4, `only ${this.#sent.length} packets were sent`)
    for (const [i, packet] of this.#sent.entries()) {
      assert.ok(readRtpHeader(packet, packet.length, header), `packet ${i} is no RTP packet`)
      if (timestamp !== null) slotMs += 20 * (((header.timestamp - timestamp) >>> 0) / FRAME)
      timestamp = header.timestamp
      const length = this.#twin.tick(slotMs, composed)
      assert.equal(hex(packet), hex(composed.subarray(0, length)), `packet ${i}`)
    }
    // The last packet has the newest slot.
    const untilMs = this.#rig.gridStart + this.#rig.turns.lastWake * WAKE_MS
    assert.equal(Math.floor((untilMs - slotMs) / 20), 0)
  }

  /** Why the call says nothing about what is heard, because the machine held the thread up; empty: all was heard. */
  compareHeard(): string {
    const { packetsReceived, concealedSamples, rejected } = this.#native.statistics()
    assert.deepEqual(rejected, { unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 })
    if (concealedSamples > 0) return `${concealedSamples} samples were concealed`
    assert.ok(this.#left < packetsReceived / 2, `${this.#left} of ${packetsReceived} packets were left to TypeScript`)
    const heard = new Int16Array(16_000)
    const count = this.#heard.readHeard(heard)
    const said = overMuLaw(this.#speech.subarray(0, this.#peerSent * FRAME))
    const from = heard.findIndex(sample => sample !== 0)
    const first = said.findIndex(sample => sample !== 0)
    assert.deepEqual(heard.subarray(from, count), said.subarray(first, first + count - from))
    return count - from > said.length - first - 3 * FRAME ? '' : `${count - from} of ${said.length} samples were heard`
  }

  close(): void {
    this.#rig.path.remove(this.#id)
    for (const socket of [this.#socket, this.#rtcpSocket]) this.#rig.sockets.close(socket)
    this.#peerSockets.close(this.#peerSocket)
  }

  /** The call's first packet, and one for which something is not regular. */
  #tick(calls: readonly LeftCall[]): void {
    for (const { slotMs, isSent } of calls) {
      if (isSent) continue
      if (Number.isNaN(this.#firstSlotMs)) this.#firstSlotMs = slotMs
      const length = this.#native.tick(slotMs, this.#one.slots[0]!)
      this.#send(this.#rig.sockets, this.#socket, length, this.#native.port)
    }
  }

  #receive({ slots, length, ipv4, port, arrivedAt }: PacketBatch, count: number): void {
    for (let i = 0; i < count; i++) this.#native.receive(arrivedAt[i]!, slots[i]!, length[i]!, ipv4[i]!, port[i]!)
    this.#left += count
  }

  #send(sockets: NativeSockets, from: number, length: number, to: number): void {
    const { bytes, length: lengths, socket, ipv4, port } = this.#one
    if (length === 0) return
    lengths[0] = length
    socket[0] = from
    ipv4[0] = LOOPBACK
    port[0] = to
    sockets.send(bytes, lengths, socket, ipv4, port, 1)
  }
}

export function coreOf(
  openedAtMs: Ms,
  seed: number,
  rings: SessionRings,
  transforms?: SrtpTransforms,
): MediaSessionCore {
  return new MediaSessionCore({
    openedAtMs,
    openedAtUnixMs: 1e12,
    rings,
    recorder: new RecordingRing(allocateRecordingRing(NARROWBAND)),
    random: new SeededRandom(seed),
    ...(transforms && { transforms }),
    emit: () => {},
  })
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function overMuLaw(audio: Int16Array): Int16Array {
  const bytes = new Uint8Array(audio.length)
  const received = new Int16Array(audio.length)
  encodePcmu(audio, 0, audio.length, bytes, 0)
  decodePcmu(bytes, 0, bytes.length, received, 0)
  return received
}
