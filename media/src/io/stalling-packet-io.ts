import type { Ms } from '@parley/kernel'
import type { PacketBatch, PacketIo } from '../packet-io/packet-io.ts'
import type { ThreadStalls } from './thread-protocol.ts'

/** Fault injection: packet I/O whose thread stalls before every n-th batch that it sends. */
export class StallingPacketIo implements PacketIo {
  readonly kind: PacketIo['kind']
  readonly #io: PacketIo
  readonly #stalls: ThreadStalls
  readonly #cell = new Int32Array(new SharedArrayBuffer(4))
  #sends = 0

  constructor(io: PacketIo, stalls: ThreadStalls) {
    this.kind = io.kind
    this.#io = io
    this.#stalls = stalls
  }

  get counters() {
    return this.#io.counters
  }

  open(address: string, port: number): Promise<number> {
    return this.#io.open(address, port)
  }

  port(socket: number): number {
    return this.#io.port(socket)
  }

  wait(deadline: Ms): Promise<void> {
    return this.#io.wait(deadline)
  }

  poll(batch: PacketBatch): number {
    return this.#io.poll(batch)
  }

  send(batch: PacketBatch, count: number): void {
    if (++this.#sends % this.#stalls.everySends === 0) Atomics.wait(this.#cell, 0, 0, this.#stalls.ms)
    this.#io.send(batch, count)
  }

  close(socket: number): void {
    this.#io.close(socket)
  }

  now(): Ms {
    return this.#io.now()
  }
}
