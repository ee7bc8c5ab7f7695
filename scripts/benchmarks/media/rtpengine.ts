// rtpengine as the daemon of Debian runs it without its kernel module: how a call is set up in it over its NG protocol, and the CPU that it takes.
import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { threadTimes } from '../thread-times.ts'

const LOOPBACK = '127.0.0.1'
const NG_PORT = 22_923
const PORTS = { from: 24_000, to: 31_999 }
const SUITE = 'AES_CM_128_HMAC_SHA1_80'
const ANSWER_TIMEOUT_MS = 2000
const START_TIMEOUT_MS = 20_000

type Bencoded = string | number | readonly Bencoded[] | { readonly [key: string]: Bencoded }

function encode(value: Bencoded): string {
  if (typeof value === 'string') return `${Buffer.byteLength(value)}:${value}`
  if (typeof value === 'number') return `i${value}e`
  if (Array.isArray(value)) return `l${value.map(encode).join('')}e`
  return `d${Object.entries(value)
    .map(([key, entry]) => encode(key) + encode(entry as Bencoded))
    .join('')}e`
}

/** The strings at the first level of a dictionary; SDP is ASCII here. */
function decodeStrings(text: string): Map<string, string> {
  const values: string[] = []
  for (let at = 1; text[at] !== 'e' && at < text.length; ) {
    const colon = text.indexOf(':', at)
    const length = Number(text.slice(at, colon))
    if (!Number.isInteger(length)) break
    values.push(text.slice(colon + 1, colon + 1 + length))
    at = colon + 1 + length
  }
  const found = new Map<string, string>()
  for (let i = 0; i + 1 < values.length; i += 2) found.set(values[i]!, values[i + 1]!)
  return found
}

function sdp(port: number, protocol: string, attributes: readonly string[]): string {
  const lines = ['v=0', `o=- 1 1 IN IP4 ${LOOPBACK}`, 's=-', `c=IN IP4 ${LOOPBACK}`, 't=0 0']
  return [...lines, `m=audio ${port} ${protocol} 0`, 'a=sendrecv', ...attributes, ''].join('\r\n')
}

const portOf = (text: string) => Number(/^m=audio (\d+) /m.exec(text)?.[1])

export class Rtpengine {
  readonly #process: ChildProcess
  readonly #socket: Socket
  #cookies = 0

  private constructor(process: ChildProcess, socket: Socket) {
    this.#process = process
    this.#socket = socket
  }

  /** Rejects where rtpengine is not installed or does not answer. */
  static async start(): Promise<Rtpengine> {
    const args = [
      '--config-file=none',
      '--foreground',
      '--log-stderr',
      '--log-level=3',
      '--table=-1',
      '--num-threads=1',
    ]
    const ports = [`--port-min=${PORTS.from}`, `--port-max=${PORTS.to}`]
    const where = [`--interface=${LOOPBACK}`, `--listen-ng=${LOOPBACK}:${NG_PORT}`]
    const child = spawn('rtpengine', [...args, ...where, ...ports], { stdio: 'ignore' })
    const failed = once(child, 'error').then(([error]) => {
      throw new Error(`rtpengine does not start (apt-get install rtpengine-daemon): ${String(error)}`)
    })
    failed.catch(() => {})
    const socket = createSocket('udp4')
    const engine = new Rtpengine(child, socket)
    const until = performance.now() + START_TIMEOUT_MS
    for (;;) {
      const answered = engine.#ask({ command: 'ping' }).then(
        () => true,
        () => false,
      )
      if (await Promise.race([answered, failed])) return engine
      if (performance.now() < until) continue
      await engine.close()
      throw new Error('rtpengine does not answer')
    }
  }

  /**
   * Sets up a call between plain RTP on `from` and SRTP on `to`, ports of this machine. Returns the port that takes the plain
   * RTP, and the key of the SRTP that `to` receives.
   */
  async call(id: string, from: number, to: number): Promise<{ port: number; keyAndSalt: Uint8Array }> {
    const shared = { 'call-id': id, 'from-tag': 'a', ICE: 'remove', replace: ['origin', 'session-connection'] }
    const offer = { command: 'offer', 'transport-protocol': 'RTP/SAVP', DTLS: 'off', sdp: sdp(from, 'RTP/AVP', []) }
    const offered = (await this.#ask({ ...shared, ...offer })).get('sdp') ?? ''
    const crypto = new RegExp(`^a=crypto:(\\d+) ${SUITE} inline:([A-Za-z0-9+/=]+)`, 'm').exec(offered)
    if (crypto === null) throw new Error(`rtpengine offers no ${SUITE}`)
    const line = `a=crypto:${crypto[1]} ${SUITE} inline:${Buffer.alloc(30, 7).toString('base64')}`
    const answer = { command: 'answer', 'to-tag': 'b', sdp: sdp(to, 'RTP/SAVP', [line]) }
    const answered = (await this.#ask({ ...shared, ...answer })).get('sdp') ?? ''
    return { port: portOf(answered), keyAndSalt: Uint8Array.from(Buffer.from(crypto[2]!, 'base64')) }
  }

  /**
   * User and system time of the process, ms: of its threads, because `/proc/PID/stat` counts ticks of 10 ms, more than the packets of a
   * few calls take. rtpengine keeps its threads, so that none is missing from a difference.
   */
  cpuMs(): number {
    const { main, media, other } = threadTimes(this.#process.pid!) ?? { main: 0, media: 0, other: 0 }
    return main + media + other
  }

  async close(): Promise<void> {
    this.#socket.close()
    if (this.#process.exitCode !== null || this.#process.pid === undefined) return
    const exited = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await exited
  }

  async #ask(request: { readonly [key: string]: Bencoded }): Promise<Map<string, string>> {
    const cookie = `c${++this.#cookies}`
    const answers = new AbortController()
    const answered = new Promise<string>(resolve => {
      const listen = (message: Buffer) => {
        const text = message.toString('latin1')
        if (text.startsWith(`${cookie} `)) resolve(text.slice(cookie.length + 1))
      }
      this.#socket.on('message', listen)
      answers.signal.addEventListener('abort', () => this.#socket.off('message', listen))
    })
    this.#socket.send(`${cookie} ${encode(request)}`, NG_PORT, LOOPBACK)
    const late = sleep(ANSWER_TIMEOUT_MS, null, { signal: answers.signal }).catch(() => null)
    const text = await Promise.race([answered, late])
    answers.abort()
    if (text === null) throw new Error(`rtpengine does not answer to ${String(request.command)}`)
    const values = decodeStrings(text)
    if (values.get('result') === 'error') throw new Error(`rtpengine: ${values.get('error-reason')}`)
    return values
  }
}
