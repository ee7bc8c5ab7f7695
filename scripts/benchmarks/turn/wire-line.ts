import { type Ms, systemTime, type Time, type Timer } from '@parley/kernel'
import {
  choosePacketIo,
  makePacketIo,
  makeTransforms,
  PacketBatch,
  type PacketIo,
  type SrtpTransforms,
} from '@parley/media/testing'

const LOOPBACK = '127.0.0.1'
export const FRAME_MS: Ms = 20
/** The callers send in this many groups, one after the other, so that their packets do not leave all at once. */
const GROUPS = 4
const WAKE_MS: Ms = FRAME_MS / GROUPS
/** Frames that are later than this are dropped, because speech cannot catch up. */
const MAX_LATE_MS: Ms = 100

/** One caller on the line. */
export interface LineMember {
  /** Writes its packet of the next 20 ms into `slot` and returns its length; 0: nothing is sent. `to` gets the destination. */
  compose(slot: Uint8Array, to: Destination): number
  /** Handles a packet, which it may change but not keep. `at` is the time of its arrival on the clock `wireClock`. */
  receive(at: Ms, packet: Uint8Array, length: number, ipv4: number, port: number): void
  /** These frames are not sent. */
  skip(frames: number): void
}

/** Where a packet goes. */
export interface Destination {
  ipv4: number
  port: number
}

/** The clock of the machine with fractions of ms, the same in all its processes. */
export function wireClock(): Ms {
  return performance.timeOrigin + performance.now()
}

/**
 * The sockets of all callers, on one timer and one packet I/O: hundreds of callers then leave most of the machine to the engine that is
 * measured. Packets have the arrival times of the kernel where the packet I/O has them.
 */
export class WireLine {
  readonly transforms: SrtpTransforms
  readonly #io: PacketIo
  readonly #time: Time
  readonly #incoming = new PacketBatch(256)
  readonly #outgoing = new PacketBatch(64)
  readonly #to: Destination = { ipv4: 0, port: 0 }
  readonly #members = new Map<number, LineMember>()
  readonly #groups = Array.from({ length: GROUPS }, () => new Map<number, LineMember>())
  #group = -1
  #filled = 0
  #timer: Timer | null = null
  #nextAt: Ms = 0

  constructor(time: Time = systemTime) {
    const kind = choosePacketIo(undefined)
    this.#io = makePacketIo(kind)
    this.transforms = makeTransforms(kind)
    this.#time = time
  }

  /** Opens a socket for a caller. */
  async open(): Promise<{ readonly socket: number; readonly address: string; readonly port: number }> {
    const socket = await this.#io.open(LOOPBACK, 0)
    return { socket, address: LOOPBACK, port: this.#io.port(socket) }
  }

  /** From now on `member` sends and receives on `socket`. It has no effect on one that does so already. */
  join(socket: number, member: LineMember): void {
    if (this.#members.has(socket)) return
    this.#members.set(socket, member)
    const following = Array.from({ length: GROUPS }, (_, i) => this.#groups[(this.#group + 1 + i) % GROUPS]!)
    following.reduce((least, group) => (group.size < least.size ? group : least)).set(socket, member)
    if (this.#timer !== null) return
    this.#nextAt = this.#time.now()
    this.#arm()
  }

  close(socket: number): void {
    this.#io.close(socket)
    this.#members.delete(socket)
    for (const group of this.#groups) group.delete(socket)
    if (this.#members.size > 0) return
    this.#timer?.cancel()
    this.#timer = null
  }

  #arm(): void {
    this.#timer = this.#time.at(this.#nextAt, () => {
      this.#timer = null
      this.#receive()
      this.#skipLate()
      for (; this.#nextAt <= this.#time.now(); this.#nextAt += WAKE_MS) this.#sendGroup()
      this.#flush()
      if (this.#timer === null && this.#members.size > 0) this.#arm()
    })
  }

  #skipLate(): void {
    const late = this.#time.now() - this.#nextAt
    if (late <= MAX_LATE_MS) return
    const frames = Math.floor(late / FRAME_MS)
    for (const member of this.#members.values()) member.skip(frames)
    this.#nextAt += frames * FRAME_MS
  }

  #sendGroup(): void {
    this.#group = (this.#group + 1) % GROUPS
    const out = this.#outgoing
    for (const [socket, member] of this.#groups[this.#group]!) {
      const length = member.compose(out.slots[this.#filled]!, this.#to)
      if (length <= 0) continue
      out.length[this.#filled] = length
      out.socket[this.#filled] = socket
      out.ipv4[this.#filled] = this.#to.ipv4
      out.port[this.#filled] = this.#to.port
      if (++this.#filled === out.capacity) this.#flush()
    }
  }

  #flush(): void {
    if (this.#filled > 0) this.#io.send(this.#outgoing, this.#filled)
    this.#filled = 0
  }

  #receive(): void {
    const { slots, length, socket, ipv4, port, arrivedAt } = this.#incoming
    for (let count = this.#io.poll(this.#incoming); count > 0; count = this.#io.poll(this.#incoming))
      for (let i = 0; i < count; i++) {
        const at = performance.timeOrigin + arrivedAt[i]!
        this.#members.get(socket[i]!)?.receive(at, slots[i]!, length[i]!, ipv4[i]!, port[i]!)
      }
  }
}
