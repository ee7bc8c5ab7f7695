import { PacketBatch, type PacketIo } from '../packet-io/packet-io.ts'

/** Packets that a media thread gathers and sends at once. */
export class OutgoingPackets {
  readonly batch: PacketBatch
  readonly #io: PacketIo
  #filled = 0

  constructor(io: PacketIo, capacity: number) {
    this.#io = io
    this.batch = new PacketBatch(capacity)
  }

  get filled(): number {
    return this.#filled
  }

  /** Where the next packet is written before `add` gives it an address. */
  get next(): Uint8Array {
    return this.batch.slots[this.#filled]!
  }

  /** `next` has a packet of `length` bytes for this address. */
  add(socket: number, length: number, ipv4: number, port: number): void {
    const at = this.#filled++
    this.batch.socket[at] = socket
    this.batch.length[at] = length
    this.batch.ipv4[at] = ipv4
    this.batch.port[at] = port
  }

  /** A media path has written packets up to `filled`, with their addresses. */
  filledTo(filled: number): void {
    this.#filled = filled
  }

  flush(): void {
    if (this.#filled > 0) this.#io.send(this.batch, this.#filled)
    this.#filled = 0
  }
}
