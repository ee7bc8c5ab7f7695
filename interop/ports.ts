import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/** Where one peer listens, on 127.0.0.1. */
export interface PeerPorts {
  /** SIP over TLS; UDP and TCP are one below. */
  readonly tls: number
  readonly control: number
  /** First of `RTP_RANGE` RTP ports, even. */
  readonly rtp: number
}

/** RTP ports of engines inside a test, which take them by themselves: none that a peer was given and has yet to bind. */
export const ENGINE_RTP_PORTS = { from: 19_000, to: 19_999 } as const

const RTP_RANGE = 100
/** Below the range that the kernel picks outgoing ports from, above the engine's default RTP ports. */
const SIP_BASE = 20_000
const RTP_BASE = 22_000
const SLOTS = 100
/** Test files that run at the same time have slots of their own, because a port found free is bound only seconds later. */
const WORKERS = 10
/** Name of the variable that is added to the number of a worker: the group `slow` has workers beside those of other groups (vitest.config.ts). */
export const FIRST_PORT_SLOT = 'TEST_FIRST_PORT_SLOT'
const worker = (Number(process.env.VITEST_POOL_ID ?? 0) + Number(process.env[FIRST_PORT_SLOT] ?? 0)) % WORKERS

/** The slots of this worker, the longest unused one first: test files that follow each other in one process share them. */
const slots = Array.from({ length: SLOTS / WORKERS }, (_, turn) => turn * WORKERS + worker)
// Another run on the same machine begins elsewhere.
slots.push(...slots.splice(0, Math.floor(Math.random() * slots.length)))

/** Ports that are free right now; one process gets the same ones again only after all others. */
export async function freePeerPorts(): Promise<PeerPorts> {
  for (let i = 0; i < slots.length; i++) {
    const slot = slots.shift()!
    slots.push(slot)
    const ports = { tls: SIP_BASE + 4 * slot + 1, control: SIP_BASE + 4 * slot + 2, rtp: RTP_BASE + RTP_RANGE * slot }
    const tcp = [ports.tls, ports.tls - 1, ports.control]
    const udp = [ports.tls - 1, ports.control, ports.rtp, ports.rtp + 1, ports.rtp + 2, ports.rtp + 3]
    const free = await Promise.all([...tcp.map(isTcpFree), ...udp.map(isUdpFree)])
    if (free.every(Boolean)) return ports
  }
  throw new Error(`no free ports for a peer between ${SIP_BASE} and ${RTP_BASE + RTP_RANGE * SLOTS}`)
}

/** RTP ports for 150 calls, below those of the peers. */
export function manyRtpPorts(): string {
  const base = 12_000 + 600 * worker
  return `${base}-${base + 599}`
}

/** baresip's notation of the peer's RTP ports. */
export function rtpRange(ports: PeerPorts): string {
  return `${ports.rtp}-${ports.rtp + RTP_RANGE - 1}`
}

function isTcpFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

function isUdpFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = createSocket('udp4')
    socket.once('error', () => socket.close(() => resolve(false)))
    // All addresses: that is where baresip binds its RTP.
    socket.bind(port, '0.0.0.0', () => socket.close(() => resolve(true)))
  })
}
