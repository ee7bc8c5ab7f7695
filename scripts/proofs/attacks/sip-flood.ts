import { createSocket } from 'node:dgram'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { attack, pause } from './attacker.ts'

export interface SipFlood {
  readonly transport: 'udp' | 'tcp' | 'tls'
  readonly port: number
  /** The attacker's address. */
  readonly from: string
  /** Number of sockets. */
  readonly sockets: number
  readonly count: number
  /** Upper limit; TCP and TLS may be slower because of flow control. */
  readonly perSecond: number
  /** Methods, used in turn; "garbage" sends bytes that are not SIP. */
  readonly methods: readonly string[]
  readonly uri: string
  /** PEM, for TLS. */
  readonly ca: string
  /** Media addresses of the INVITEs' offers, used in turn: "address:port". Default: one of the attacker. */
  readonly media?: readonly string[]
  /** The flood ends when nothing was received for this time, ms. */
  readonly lingerMs: number
  /** Every request gets an answer: as long as one is missing, the flood lasts until nothing was received for 10 s. Default false. */
  readonly awaitsAnswers?: boolean
}

export interface SipFloodResult {
  readonly sent: number
  readonly bytesReceived: number
  /** Responses by status code. */
  readonly statuses: Readonly<Record<string, number>>
  /** 503 with Retry-After. */
  readonly retryAfter: number
  readonly seconds: number
}

const MEDIA = ['127.0.0.2:40000']
/** Longest stall of a busy engine. */
const ANSWER_MS = 10_000
const LOOK_MS = 50

function offer(media: string): string {
  const [address, port] = media.split(':')
  return [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.2',
    's=-',
    `c=IN IP4 ${address}`,
    't=0 0',
    `m=audio ${port} RTP/SAVP 0`,
    'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj',
    '',
  ].join('\r\n')
}

const MALFORMED = [
  'INVITE\r\n\r\n',
  '\0\x01\x02\xff'.repeat(40),
  'OPTIONS sip:x SIP/2.0\r\nVia: ,,,\r\nContent-Length: -1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 127.0.0.1\r\n\r\n',
]

/** What is needed to end an answered call. */
interface AnsweredCall {
  readonly line: Line
  readonly callId: string
  readonly serial: string
  readonly toTag: string
}

interface Line {
  send(bytes: Buffer): Promise<void>
  close(): void
}

const statuses: Record<string, number> = {}
const answered: AnsweredCall[] = []
/** Serials of the requests with a final response. */
const concluded = new Set<string>()
let bytesReceived = 0
let retryAfter = 0

function read(line: Line, text: string): void {
  for (const message of text.split(/(?=^SIP\/2\.0 \d{3} )/m)) {
    const status = /^SIP\/2\.0 (\d{3}) /.exec(message)?.[1]
    if (status === undefined) continue
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status === '503' && /^Retry-After: \d/m.test(message)) retryAfter++
    const [, callId, serial] = /^Call-ID: (flood-(\S+))/m.exec(message) ?? []
    if (serial && Number(status) >= 200) concluded.add(serial)
    const toTag = /^To: .*;tag=([^;\s]+)/m.exec(message)?.[1]
    if (status === '200' && callId && serial && toTag && !answered.some(call => call.callId === callId))
      answered.push({ line, callId, serial, toTag })
  }
}

function openLine(job: SipFlood): Promise<Line> {
  return job.transport === 'udp' ? openDatagrams(job) : openStream(job)
}

async function openDatagrams({ from, port }: SipFlood): Promise<Line> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 })
  await new Promise<void>(resolve => socket.bind(0, from, resolve))
  const line: Line = {
    send: bytes => new Promise(resolve => socket.send(bytes, port, '127.0.0.1', () => resolve())),
    close: () => socket.close(),
  }
  socket.on('message', bytes => {
    bytesReceived += bytes.length
    read(line, bytes.toString('latin1'))
  })
  return line
}

async function openStream({ transport, from, port, ca }: SipFlood): Promise<Line> {
  const tcp = connectTcp({ host: '127.0.0.1', port, localAddress: from })
  const socket: Socket =
    transport === 'tcp' ? tcp : connectTls({ socket: tcp, ca, servername: 'localhost', ALPNProtocols: [] })
  socket.on('error', () => {})
  await new Promise(resolve =>
    socket.once(transport === 'tcp' ? 'connect' : 'secureConnect', resolve).once('close', resolve),
  )
  const line: Line = {
    send: async bytes => {
      if (socket.destroyed || socket.write(bytes)) return
      await new Promise(resolve => socket.once('drain', resolve).once('close', resolve))
    },
    close: () => socket.destroy(),
  }
  let pending = ''
  socket.on('data', chunk => {
    bytesReceived += chunk.length
    pending += chunk.toString('latin1')
    // Only whole messages are read, because a split status line would not be counted.
    const whole = pending.lastIndexOf('\r\n\r\n')
    if (whole < 0) return
    read(line, pending.slice(0, whole + 4))
    pending = pending.slice(whole + 4)
  })
  return line
}

function request(job: SipFlood, method: string, serial: string, dialog?: { readonly toTag: string }): Buffer {
  const { media = MEDIA } = job
  const body = method === 'INVITE' ? offer(media[Number(serial.split('x')[1]) % media.length]!) : ''
  const lines = [
    `${method} ${job.uri} SIP/2.0`,
    `Via: SIP/2.0/${job.transport.toUpperCase()} ${job.from}:9;rport;branch=z9hG4bKflood${serial}${method}`,
    'Max-Forwards: 70',
    `From: <sip:flood@${job.from}>;tag=f${serial}`,
    `To: <${job.uri}>${dialog === undefined ? '' : `;tag=${dialog.toTag}`}`,
    `Call-ID: flood-${serial}`,
    `CSeq: ${method === 'BYE' ? 2 : 1} ${method}`,
    `Contact: <sip:flood@${job.from}:9;transport=${job.transport}>`,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
    '',
    body,
  ]
  return Buffer.from(lines.join('\r\n'))
}

async function flood(job: SipFlood): Promise<SipFloodResult> {
  const lines = await Promise.all(Array.from({ length: job.sockets }, () => openLine(job)))
  const began = performance.now()
  let sent = 0
  while (sent < job.count) {
    const due = Math.min(job.count, Math.ceil(((performance.now() - began) / 1000) * job.perSecond))
    const sends: Promise<void>[] = []
    for (; sent < due && sends.length < 200; sent++) {
      const method = job.methods[sent % job.methods.length]!
      const bytes =
        method === 'garbage'
          ? Buffer.from(MALFORMED[sent % MALFORMED.length]!, 'latin1')
          : request(job, method, `${process.pid}x${sent}`)
      sends.push(lines[sent % lines.length]!.send(bytes))
    }
    await Promise.all(sends)
    await pause(2)
  }
  const seconds = Math.round(performance.now() - began) / 1000
  let [received, quietMs] = [bytesReceived, 0]
  while (quietMs < (job.awaitsAnswers === true && concluded.size < sent ? ANSWER_MS : job.lingerMs)) {
    await pause(LOOK_MS)
    quietMs = received === bytesReceived ? quietMs + LOOK_MS : 0
    received = bytesReceived
  }
  hangUp = async () => {
    for (const { line, serial, toTag } of answered) {
      await line.send(request(job, 'ACK', serial, { toTag }))
      await line.send(request(job, 'BYE', serial, { toTag }))
    }
    await pause(300)
    for (const line of lines) line.close()
  }
  return { sent, bytesReceived, statuses, retryAfter, seconds }
}

let hangUp: () => Promise<void> = async () => {}

attack(flood, () => hangUp())
