import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server, type Socket as TcpSocket } from 'node:net'
import type { NaptrRecord, SrvRecord } from '../transport/dns.ts'

const TYPES = { CNAME: 5, SRV: 33, NAPTR: 35 } as const

interface Answer {
  readonly type: number
  readonly data: Buffer
}

/** Records, an error code, no answer ("silence"), or raw bytes that follow the query's ID. */
export type Reply = readonly Answer[] | 'nxdomain' | 'servfail' | 'silence' | Buffer

/** A DNS server for tests (RFC 1035 section 4), over UDP and TCP. A UDP answer of more than 512 bytes is truncated (TC). */
export class DnsServer {
  /** Questions received, in order, e.g. "SRV _sip._udp.a.example"; one that a busy process asks again stands once. */
  readonly queries: string[] = []
  /** Each with its ID, which a repeated question keeps. */
  readonly #asked = new Set<string>()
  readonly #udp: Socket
  readonly #tcp: Server
  readonly #connections = new Set<TcpSocket>()
  readonly #reply: (question: string) => Reply

  private constructor(udp: Socket, tcp: Server, reply: (question: string) => Reply) {
    this.#udp = udp
    this.#tcp = tcp
    this.#reply = reply
    udp.on('message', (query, from) => {
      const answer = this.#answer(query, 512)
      if (answer !== undefined) udp.send(answer, from.port, from.address)
    })
    tcp.on('connection', socket => {
      this.#connections.add(socket)
      socket.on('error', () => {})
      socket.on('data', query => {
        const answer = this.#answer(query.subarray(2), 65_535)
        if (answer !== undefined) socket.write(Buffer.concat([uint16(answer.length), answer]))
      })
    })
  }

  /** `reply` receives "TYPE name" and returns the answer. */
  static async open(reply: (question: string) => Reply): Promise<DnsServer> {
    for (;;) {
      const udp = createSocket('udp4')
      udp.bind(0, '127.0.0.1')
      await once(udp, 'listening')
      const tcp = createServer().listen(udp.address().port, '127.0.0.1')
      const free = await once(tcp, 'listening').then(
        () => true,
        () => false,
      )
      if (free) return new DnsServer(udp, tcp, reply)
      udp.close()
    }
  }

  get address(): string {
    return `127.0.0.1:${this.#udp.address().port}`
  }

  async close(): Promise<void> {
    this.#udp.close()
    for (const socket of this.#connections) socket.destroy()
    const closed = once(this.#tcp, 'close')
    this.#tcp.close()
    await closed
  }

  #answer(query: Buffer, room: number): Buffer | undefined {
    const { name, end } = readName(query, 12)
    const type = query.readUInt16BE(end)
    const question = query.subarray(12, end + 4)
    const typeName = Object.entries(TYPES).find(([, number]) => number === type)?.[0] ?? String(type)
    const asked = `${query.readUInt16BE(0)} ${typeName} ${name}`
    if (!this.#asked.has(asked)) this.queries.push(`${typeName} ${name}`)
    this.#asked.add(asked)
    const reply = this.#reply(`${typeName} ${name}`)
    if (reply === 'silence') return undefined
    if (Buffer.isBuffer(reply)) return Buffer.concat([query.subarray(0, 2), reply])
    const records = typeof reply === 'string' ? [] : reply
    const code = reply === 'nxdomain' ? 3 : reply === 'servfail' ? 2 : 0
    // The name of every record is a pointer to the question.
    const body = records.map(({ type, data }) =>
      Buffer.concat([uint16(0xc00c), uint16(type), uint16(1), uint32(3600), uint16(data.length), data]),
    )
    const whole = message(query, code, question, body)
    return whole.length <= room ? whole : message(query, code | 0x0200, question, [])
  }
}

function message(query: Buffer, flags: number, question: Buffer, records: readonly Buffer[]): Buffer {
  const counts = [1, records.length, 0, 0].map(uint16)
  return Buffer.concat([query.subarray(0, 2), uint16(0x8180 | flags), ...counts, question, ...records])
}

export function naptrAnswer(record: NaptrRecord): Answer {
  const { order, preference, flags, service, regexp, replacement } = record
  const data = [uint16(order), uint16(preference), text(flags), text(service), text(regexp), writeName(replacement)]
  return { type: TYPES.NAPTR, data: Buffer.concat(data) }
}

export function srvAnswer({ priority, weight, port, target }: SrvRecord): Answer {
  const data = [uint16(priority), uint16(weight), uint16(port), writeName(target)]
  return { type: TYPES.SRV, data: Buffer.concat(data) }
}

export function cnameAnswer(target: string): Answer {
  return { type: TYPES.CNAME, data: writeName(target) }
}

function readName(bytes: Buffer, at: number): { name: string; end: number } {
  const labels: string[] = []
  let i = at
  for (; bytes[i] !== 0; i += bytes[i]! + 1) labels.push(bytes.toString('latin1', i + 1, i + 1 + bytes[i]!))
  return { name: labels.join('.').toLowerCase(), end: i + 1 }
}

function writeName(name: string): Buffer {
  const labels = name.split('.').filter(label => label !== '')
  return Buffer.concat([...labels.map(text), Buffer.of(0)])
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.of(value.length), Buffer.from(value, 'latin1')])
}

function uint16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff)
}

function uint32(value: number): Buffer {
  return Buffer.concat([uint16(value >>> 16), uint16(value & 0xffff)])
}
