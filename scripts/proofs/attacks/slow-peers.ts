import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { attack, pause } from './attacker.ts'

export interface SlowPeers {
  readonly tcpPort: number
  readonly tlsPort: number
  readonly from: string
  /** Connections of each kind. */
  readonly count: number
  /** Connections that stop during the TLS handshake. */
  readonly halfOpen: number
  /** A URI that gets answers, for peers that send requests and never read. */
  readonly uri: string
  readonly ca: string
  /** Wait after the last connection was opened, ms. */
  readonly waitMs: number
  /** Additional wait while a connection is still open. */
  readonly deafMs: number
}

export interface SlowPeersResult {
  /** By kind: connections opened and closed by the engine, longest lifetime (ms), and bytes received. */
  readonly kinds: Readonly<Record<string, { opened: number; closed: number; longestMs: number; bytesReceived: number }>>
}

/** Peers that never read. The engine must queue megabytes of answers for each, because the kernel buffers the first ones. */
const NON_READING_PEERS = 2
/** A display name that is copied into each answer. */
const LONG_NAME = 'slow'.repeat(1750)

type Kind = SlowPeersResult['kinds'][string]

const sockets: Socket[] = []
const kinds: Record<string, Kind> = {}

function watch(name: string, socket: Socket): void {
  const began = performance.now()
  kinds[name] ??= { opened: 0, closed: 0, longestMs: 0, bytesReceived: 0 }
  const kind: Kind = kinds[name]
  kind.opened++
  sockets.push(socket)
  socket.on('error', () => {})
  socket.once('close', () => {
    kind.closed++
    kind.longestMs = Math.max(kind.longestMs, Math.round(performance.now() - began))
  })
}

function countBytes(name: string, socket: Socket): void {
  socket.on('data', chunk => {
    kinds[name]!.bytesReceived += chunk.length
  })
}

function options(uri: string, serial: number, name = ''): Buffer {
  const lines = [
    `OPTIONS ${uri} SIP/2.0`,
    `Via: SIP/2.0/TCP 127.0.0.2:9;branch=z9hG4bKslow${serial}`,
    'Max-Forwards: 70',
    `From: "${name}" <sip:slow@127.0.0.2>;tag=s`,
    `To: <${uri}>`,
    `Call-ID: slow-${serial}`,
    'CSeq: 1 OPTIONS',
    'Content-Length: 0',
    '',
    '',
  ]
  return Buffer.from(lines.join('\r\n'))
}

/** Sends a valid request one byte at a time. */
function drip(socket: Socket, bytes: Buffer, everyMs: number): void {
  let at = 0
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer)
    else socket.write(bytes.subarray(at, ++at))
  }, everyMs)
}

async function crawl(job: SlowPeers): Promise<SlowPeersResult> {
  const open = (port: number) => connectTcp({ host: '127.0.0.1', port, localAddress: job.from })
  for (let i = 0; i < job.halfOpen; i++) {
    const socket = open(job.tlsPort)
    watch('half a TLS handshake', socket)
    countBytes('half a TLS handshake', socket)
    socket.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))
  }
  for (let i = 0; i < job.count; i++) {
    const dripping = open(job.tcpPort)
    watch('drips over TCP', dripping)
    countBytes('drips over TCP', dripping)
    drip(dripping, options(job.uri, i), 400)
    const silent = open(job.tcpPort)
    watch('says nothing', silent)
    countBytes('says nothing', silent)
  }
  // The unfinished handshakes come first, because they delay the attacker's own handshakes.
  await pause(6000)
  for (let i = 0; i < job.count / 2; i++) {
    const raw = open(job.tlsPort)
    const secure = connectTls({ socket: raw, ca: job.ca, servername: 'localhost' })
    watch('drips over TLS', secure)
    countBytes('drips over TLS', secure)
    secure.once('secureConnect', () => drip(secure, options(job.uri, 10_000 + i), 400))
  }
  // The slow handshakes come first, because the requests below keep the engine busy.
  await pause(2000)
  for (let i = 0; i < NON_READING_PEERS; i++) {
    const deaf = open(job.tcpPort)
    watch('asks and never reads', deaf)
    deaf.pause()
    void pump(deaf, job.uri, i)
  }
  await pause(job.waitMs)
  // Peers that never read are closed because of the queued bytes, not because of a time limit.
  for (let waited = 0; waited < job.deafMs && sockets.some(socket => !socket.destroyed); waited += 100) await pause(100)
  for (const socket of sockets) socket.destroy()
  return { kinds: structuredClone(kinds) }
}

async function pump(socket: Socket, uri: string, serial: number): Promise<void> {
  for (let i = 0; !socket.destroyed && i < 100_000; i++) {
    if (!socket.write(options(uri, serial * 1_000_000 + i, LONG_NAME)))
      await new Promise(resolve => socket.once('drain', resolve).once('close', resolve))
    if (i % 50 === 0) await pause(1)
  }
}

attack(crawl)
