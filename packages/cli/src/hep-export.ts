import { createSocket, type Socket } from 'node:dgram'
import type { LadderMessage } from '@parley/engine'
import type { Ms, Time } from '@parley/kernel'
import { hepDatagram } from './hep.ts'

const REPORT_EVERY_MS: Ms = 60_000

interface HepExportOptions {
  /** The capture server, such as Homer's heplify-server. */
  readonly server: { readonly host: string; readonly port: number }
  readonly time: Time
  readonly onProblem: (what: string, error: unknown) => void
}

/** Sends SIP messages to a capture server by UDP. Messages that cannot be sent are dropped and reported once a minute. */
export class HepExport {
  readonly #options: HepExportOptions
  readonly #socket: Socket
  #reportedAt: Ms = Number.NEGATIVE_INFINITY

  constructor(options: HepExportOptions) {
    this.#options = options
    this.#socket = createSocket({ type: options.server.host.includes(':') ? 'udp6' : 'udp4' })
    this.#socket.on('error', error => this.#report(error))
    // The export keeps no process alive.
    this.#socket.unref()
  }

  /** Never throws. */
  send(message: LadderMessage): void {
    const { host, port } = this.#options.server
    try {
      const datagram = hepDatagram(message)
      if (datagram === null) return this.#report(new RangeError('a SIP message is too long for a datagram'))
      this.#socket.send(datagram, port, host, error => {
        if (error !== null) this.#report(error)
      })
    } catch (error) {
      this.#report(error)
    }
  }

  close(): void {
    this.#socket.close()
  }

  #report(error: unknown): void {
    const now = this.#options.time.now()
    if (now < this.#reportedAt + REPORT_EVERY_MS) return
    this.#reportedAt = now
    this.#options.onProblem('SIP messages cannot be sent to the capture server of PARLEY_HEP', error)
  }
}
