import type { Ms, Random, Time } from '@parley/kernel'
import {
  type NetworkConditions,
  type VirtualPacketListener,
  VirtualPacketNetwork,
  type VirtualSocket,
} from '../virtual-packet-network.ts'
import type { DriftingTime } from './drifting-time.ts'

/** A network that can delay all packets for a while, between machines that can stall: packets wait in their sockets. */
export class StallingNetwork extends VirtualPacketNetwork {
  readonly #time: Time
  readonly #machines: ReadonlyMap<number, DriftingTime>
  #heldUntil: Ms = Number.NEGATIVE_INFINITY

  /** `machines`: by IPv4 address. */
  constructor(options: {
    readonly time: Time
    readonly random: Random
    readonly conditions: NetworkConditions
    readonly machines: ReadonlyMap<number, DriftingTime>
  }) {
    super(options)
    this.#time = options.time
    this.#machines = options.machines
  }

  /** Delays all packets that would arrive during the next `ms` to the end of that time. */
  stall(ms: Ms): void {
    this.#heldUntil = this.#time.now() + ms
  }

  override bind(ipv4: number, port: number, listener: VirtualPacketListener): VirtualSocket {
    const machine = this.#machines.get(ipv4)
    return super.bind(ipv4, port, (packet, length, fromIpv4, fromPort) => {
      const deliver = () => {
        const hear = () => listener(packet, length, fromIpv4, fromPort)
        if (machine === undefined) hear()
        else machine.whenRunning(hear)
      }
      if (this.#time.now() >= this.#heldUntil) deliver()
      else this.#time.at(this.#heldUntil, deliver)
    })
  }
}
