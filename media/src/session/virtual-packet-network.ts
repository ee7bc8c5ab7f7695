import { type Ms, type Random, randomUint32, type Time } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import { formatIpv4 } from '../packet-io/ipv4.ts'

/** Conditions of the network; each probability is 0 to 1. May be changed at any time. */
export interface NetworkConditions {
  /** One way; default 20. */
  readonly latencyMs?: Ms
  /** Added to the latency, uniform of 0 to this; default 0. Packets may overtake each other by it only if `reorder` is set. */
  readonly jitterMs?: Ms
  readonly loss?: number
  readonly duplicate?: number
  /** Probability that a packet is held back by 30 ms, so that later ones overtake it; default 0. */
  readonly reorder?: number
}

const HELD_BACK_MS: Ms = 30

export type VirtualPacketListener = (packet: Uint8Array, length: number, ipv4: number, port: number) => void

/** One bound UDP port of the network. */
export interface VirtualSocket {
  readonly ipv4: number
  readonly port: number
  /** The first `length` bytes of `packet`, copied. */
  send(packet: Uint8Array, length: number, ipv4: number, port: number): void
  close(): void
}

/** UDP in memory and in virtual time, with loss, delay and reordering from a seeded generator. */
export class VirtualPacketNetwork {
  readonly #time: Time
  readonly #random: Random
  readonly #sockets = new Map<string, VirtualPacketListener>()
  /** Last arrival per path: jitter alone does not reorder packets. */
  readonly #lastArrival = new Map<string, Ms>()
  #conditions: NetworkConditions
  /** Called for every packet that is sent, before loss. */
  onSend: ((from: VirtualSocket, packet: Uint8Array, length: number, ipv4: number, port: number) => void) | null = null

  constructor(options: { readonly time: Time; readonly random: Random; readonly conditions?: NetworkConditions }) {
    this.#time = options.time
    this.#random = options.random
    this.#conditions = options.conditions ?? {}
  }

  setConditions(conditions: NetworkConditions): void {
    this.#conditions = conditions
  }

  /** Throws `MediaError` "address_in_use". */
  bind(ipv4: number, port: number, listener: VirtualPacketListener): VirtualSocket {
    const key = endpoint(ipv4, port)
    if (this.#sockets.has(key)) {
      throw new MediaError('address_in_use', `UDP ${formatIpv4(ipv4)}:${port} is already bound`)
    }
    this.#sockets.set(key, listener)
    const socket: VirtualSocket = {
      ipv4,
      port,
      send: (packet, length, toIpv4, toPort) => this.#send(socket, packet, length, toIpv4, toPort),
      close: () => {
        this.#sockets.delete(key)
      },
    }
    return socket
  }

  #send(from: VirtualSocket, packet: Uint8Array, length: number, ipv4: number, port: number): void {
    this.onSend?.(from, packet, length, ipv4, port)
    const { loss = 0, duplicate = 0 } = this.#conditions
    if (this.#chance(loss)) return
    const copies = this.#chance(duplicate) ? 2 : 1
    for (let i = 0; i < copies; i++) this.#carry(from, packet.slice(0, length), ipv4, port)
  }

  #carry(from: VirtualSocket, packet: Uint8Array, ipv4: number, port: number): void {
    const { latencyMs = 20, jitterMs = 0, reorder = 0 } = this.#conditions
    const to = endpoint(ipv4, port)
    const path = `${endpoint(from.ipv4, from.port)}>${to}`
    let arrival = this.#time.now() + latencyMs + (jitterMs === 0 ? 0 : jitterMs * this.#uniform())
    if (this.#chance(reorder)) {
      arrival += HELD_BACK_MS
    } else {
      arrival = Math.max(arrival, this.#lastArrival.get(path) ?? 0)
      this.#lastArrival.set(path, arrival)
    }
    this.#time.at(arrival, () => this.#sockets.get(to)?.(packet, packet.length, from.ipv4, from.port))
  }

  #chance(probability: number): boolean {
    return probability > 0 && this.#uniform() < probability
  }

  #uniform(): number {
    return randomUint32(this.#random) / 2 ** 32
  }
}

function endpoint(ipv4: number, port: number): string {
  return `${ipv4}:${port}`
}
