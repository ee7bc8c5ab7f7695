import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { systemTime, type Time } from '@parley/kernel'
import type { MediaPlane, MediaSession, MediaSessionOptions } from '@parley/media'
import { WireSession, type WireTap } from './wire-session.ts'

/** The media of one caller on plain UDP sockets of the loopback network. */
export class WireMediaPlane implements MediaPlane {
  readonly #tap: WireTap
  readonly #time: Time
  readonly #sessions: WireSession[] = []

  constructor(tap: WireTap, time: Time = systemTime) {
    this.#tap = tap
    this.#time = time
  }

  async open({ label }: MediaSessionOptions): Promise<MediaSession> {
    const socket = createSocket({ type: 'udp4', lookup: literalAddress })
    // Subscribed before `bind`, because a literal address is bound at once.
    const bound = once(socket, 'listening')
    socket.bind({ address: '127.0.0.1', port: 0, exclusive: true })
    await bound
    const session = new WireSession(this.#sessions.length, label, socket, this.#tap, this.#time)
    this.#sessions.push(session)
    return session
  }

  describe(): string {
    return `media: ${this.#sessions.length} session(s) on plain sockets`
  }

  async close(): Promise<void> {
    await Promise.all(this.#sessions.map(session => session.close()))
  }
}

/** A lookup without the resolver, which would pass each packet to another thread first. */
function literalAddress(
  host: string,
  _: unknown,
  done: (error: Error | null, address: string, family: number) => void,
) {
  done(null, host, 4)
}
