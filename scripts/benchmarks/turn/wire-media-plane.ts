import type { MediaPlane, MediaSession, MediaSessionOptions } from '@parley/media'
import type { WireLine } from './wire-line.ts'
import { WireSession, type WireTap } from './wire-session.ts'

/** The media of one caller on the sockets of a line of the loopback network. */
export class WireMediaPlane implements MediaPlane {
  readonly #line: WireLine
  readonly #tap: WireTap
  readonly #sessions: WireSession[] = []

  constructor(line: WireLine, tap: WireTap) {
    this.#line = line
    this.#tap = tap
  }

  async open({ label }: MediaSessionOptions): Promise<MediaSession> {
    const session = new WireSession(label, this.#line, await this.#line.open(), this.#tap)
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
