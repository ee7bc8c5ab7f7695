import { createSocket } from 'node:dgram'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { attack, pause } from './attacker.ts'

/** A legitimate peer that sends OPTIONS requests at a fixed interval. It retransmits nothing, so that a lost request is noticed. */
export interface OptionsProbe {
  /** "tls" opens a new connection for each request. */
  readonly transport: 'udp' | 'tls'
  readonly port: number
  /** The peer's address. */
  readonly from: string
  readonly uri: string
  readonly count: number
  readonly everyMs: number
  /** An answer after this time counts as lost. */
  readonly timeoutMs: number
  /** PEM, for TLS. */
  readonly ca: string
}

export interface OptionsProbeResult {
  readonly sent: number
  readonly answered: number
  readonly p50Ms: number
  readonly maxMs: number
}

function request({ transport, from, uri }: OptionsProbe, serial: number): Buffer {
  const lines = [
    `OPTIONS ${uri} SIP/2.0`,
    `Via: SIP/2.0/${transport.toUpperCase()} ${from}:9;rport;branch=z9hG4bKprobe${process.pid}x${serial}`,
    'Max-Forwards: 70',
    `From: <sip:probe@${from}>;tag=p`,
    `To: <${uri}>`,
    `Call-ID: probe-${process.pid}-${serial}`,
    'CSeq: 1 OPTIONS',
    'Content-Length: 0',
    '',
    '',
  ]
  return Buffer.from(lines.join('\r\n'))
}

/** When each request without an answer was sent, by serial number. */
const waiting = new Map<number, number>()
const latencies: number[] = []

function read(text: string): void {
  for (const [, serial] of text.matchAll(/^Call-ID: probe-\d+-(\d+)/gm)) {
    const sentAt = waiting.get(Number(serial))
    if (sentAt === undefined) continue
    waiting.delete(Number(serial))
    latencies.push(performance.now() - sentAt)
  }
}

type Send = (serial: number) => void

async function datagrams(job: OptionsProbe): Promise<Send> {
  const socket = createSocket('udp4')
  await new Promise<void>(resolve => socket.bind(0, job.from, resolve))
  socket.on('message', bytes => read(bytes.toString('latin1')))
  return serial => socket.send(request(job, serial), job.port, '127.0.0.1')
}

function connections(job: OptionsProbe): Send {
  return serial => {
    const tcp = connectTcp({ host: '127.0.0.1', port: job.port, localAddress: job.from })
    const socket = connectTls({ socket: tcp, ca: job.ca, servername: 'localhost' })
    for (const each of [tcp, socket]) each.on('error', () => {})
    socket.once('secureConnect', () => socket.write(request(job, serial)))
    socket.on('data', chunk => {
      read(chunk.toString('latin1'))
      socket.end()
    })
    setTimeout(() => tcp.destroy(), job.timeoutMs)
  }
}

async function probe(job: OptionsProbe): Promise<OptionsProbeResult> {
  const send = job.transport === 'udp' ? await datagrams(job) : connections(job)
  const began = performance.now()
  for (let serial = 0; serial < job.count; serial++) {
    while (performance.now() < began + serial * job.everyMs) await pause(1)
    waiting.set(serial, performance.now())
    send(serial)
  }
  const lastSentAt = performance.now()
  while (waiting.size > 0 && performance.now() < lastSentAt + job.timeoutMs) await pause(10)
  const inTime = latencies.filter(ms => ms <= job.timeoutMs).sort((a, b) => a - b)
  return {
    sent: job.count,
    answered: inTime.length,
    p50Ms: rounded(inTime[inTime.length >> 1] ?? Number.NaN),
    maxMs: rounded(inTime.at(-1) ?? Number.NaN),
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}

attack(probe)
