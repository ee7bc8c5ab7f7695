import { createSocket, type Socket } from 'node:dgram'
import type { LadderMessage } from '@parley/engine'
import type { Time } from '@parley/kernel'
import { RepeatedFailureLog } from '@parley/runs'
import { hepDatagram } from './hep.ts'

interface HepExportOptions {
  /** The capture server, such as Homer's heplify-server. */
  readonly server: { readonly host: string; readonly port: number }
  readonly time: Time
  readonly onProblem: (what: string, error: unknown) => void
}

/** Sends SIP messages to a capture server by UDP. Messages that cannot be sent are dropped and reported once a minute. */
export class HepExport {
  readonly #server: HepExportOptions['server']
  readonly #socket: Socket
  readonly #sends: RepeatedFailureLog

  constructor({ server, time, onProblem }: HepExportOptions) {
    this.#server = server
    this.#sends = new RepeatedFailureLog({
      name: 'sending SIP messages to the capture server of PARLEY_HEP',
      time,
      onProblem,
    })
    this.#socket = createSocket({ type: server.host.includes(':') ? 'udp6' : 'udp4' })
    this.#socket.on('error', error => this.#sends.failed(error))
    // The export keeps no process alive.
    this.#socket.unref()
  }

  /** Never throws. */
  send(message: LadderMessage): void {
    const { host, port } = this.#server
    try {
      const datagram = hepDatagram(message)
      if (datagram === null) return this.#sends.failed(new RangeError('a SIP message is too long for a datagram'))
      this.#socket.send(datagram, port, host, error => {
        if (error === null) this.#sends.worked()
        else this.#sends.failed(error)
      })
    } catch (error) {
      this.#sends.failed(error)
    }
  }

  close(): void {
    this.#socket.close()
  }
}
