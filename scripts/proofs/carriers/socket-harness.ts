import { createSocket } from 'node:dgram'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ADMITS_WHEN_LATE,
  type Call,
  type CallReport,
  type DialRequest,
  Engine,
  testPlan,
  testRouter,
} from '@parley/engine/testing'
import { systemRandom, systemTime } from '@parley/kernel'
import { ensureLocalCertificate, parseUri, type SipUri, type TlsIdentity } from '@parley/leg'
import { type Received, ScriptedCarrier, type Wording } from '@parley/loadtest'
import type { TextToSpeech } from '@parley/providers'
import { type SipRequest, SocketTransport, SystemResolver } from '@parley/sip'
import { Attack } from '../attacks/attack.ts'
import type { OptionsProbe, OptionsProbeResult } from '../attacks/options-probe.ts'
import { sdp } from './carrier-harness.ts'

export const TOKEN = 'carriers234567token'
/** The called number of calls whose rate is limited. */
export const LIMITED_TOKEN = 'limited234567token'
/** Calls that the limited route takes at once: those of two seconds. */
export const LIMIT = 4
const WAIT_MS = 5000
const GREETING_SAMPLES = 8000

/** A second of loud sound for everything that is said. */
const voice: TextToSpeech = {
  id: 'test/tone',
  languages: ['en'],
  readiness: async () => null,
  async *synthesize() {
    yield { samples: new Int16Array(GREETING_SAMPLES).fill(9000), words: [] }
  },
  close: async () => {},
}

/** An engine on loopback sockets, which all scenarios over sockets share, and the carriers that they open. */
export class SocketHarness {
  readonly engine: Engine
  readonly tls: TlsIdentity
  readonly #directory: string
  readonly #close: (() => Promise<void> | void)[] = []

  private constructor(engine: Engine, tls: TlsIdentity, directory: string) {
    this.engine = engine
    this.tls = tls
    this.#directory = directory
  }

  static async open(): Promise<SocketHarness> {
    const directory = await mkdtemp(join(tmpdir(), 'parley-carriers.'))
    const tls = await ensureLocalCertificate(directory, { names: ['localhost'], addresses: ['127.0.0.1'] })
    const plan = () => testPlan({ voice })
    const router = testRouter([
      { token: TOKEN, security: 'rtp-only', plan },
      { token: LIMITED_TOKEN, security: 'rtp-only', plan, inboundCps: LIMIT / 2 },
    ])
    const engine = await Engine.start({
      ...ADMITS_WHEN_LATE,
      endpoint: { tls, rtp: { ports: { from: 37_000, to: 37_499 }, threads: 1 }, userAgentName: 'Parley' },
      router,
    })
    return new SocketHarness(engine, tls, directory)
  }

  /** A carrier with a UDP port of its own on `address`. */
  async carrier(address = '127.0.0.1'): Promise<SocketCarrier> {
    const resolver = new SystemResolver({ time: systemTime })
    const transport = await SocketTransport.open({
      bind: address,
      udpPort: 0,
      resolver,
      time: systemTime,
      random: systemRandom,
    })
    this.#close.push(async () => {
      await transport.close()
      resolver.close()
    })
    const port = transport.advertised('udp')?.port ?? 0
    return new SocketCarrier(this.engine, new ScriptedCarrier(transport, { address, port }), port)
  }

  /** Opens `count` TCP connections from `from` to the TLS port and sends nothing on them. */
  async idleHandshakes(from: string, count: number): Promise<void> {
    const sockets: Socket[] = []
    this.#close.push(() => {
      for (const socket of sockets) socket.destroy()
    })
    await Promise.all(
      Array.from({ length: count }, async () => {
        const socket = connect({ host: '127.0.0.1', port: this.engine.endpoint.port('tls'), localAddress: from })
        sockets.push(socket)
        socket.on('error', () => {})
        await new Promise(resolve => socket.once('connect', resolve).once('close', resolve))
      }),
    )
  }

  /** OPTIONS from a process of its own, each over a new TLS connection. */
  async optionsOverTls(from: string, count: number): Promise<OptionsProbeResult> {
    const uri = `sip:${TOKEN}@localhost`
    const port = this.engine.endpoint.port('tls')
    const job = { transport: 'tls', port, from, uri, count, everyMs: 100, timeoutMs: 2000, ca: this.tls.ca } as const
    const probe = new Attack<OptionsProbeResult>('options-probe.ts', job satisfies OptionsProbe)
    try {
      return await probe.result
    } finally {
      await probe.end()
    }
  }

  async close(): Promise<void> {
    for (const close of this.#close) await close()
    await this.engine.close()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

/** A scripted carrier on a socket, and the call of the engine to it. */
export class SocketCarrier {
  readonly carrier: ScriptedCarrier
  readonly engine: Engine
  readonly #port: number
  /** RTP packets of the engine with sound in them. */
  packetsWithSound = 0

  constructor(engine: Engine, carrier: ScriptedCarrier, port: number) {
    this.engine = engine
    this.carrier = carrier
    this.#port = port
  }

  /** The engine dials the carrier; resolves with the call when the INVITE has arrived. */
  async dial(change: Partial<DialRequest> = {}): Promise<Call> {
    const call = await this.engine.dial({
      uri: parseUri(`sip:bob@127.0.0.1:${this.#port};transport=udp`) as SipUri,
      from: { displayName: undefined, uri: parseUri('sip:+15550002222@localhost')!, params: new Map() },
      security: 'rtp-only',
      plan: testPlan({ voice }),
      ...change,
    })
    await this.until(() => this.carrier.all('INVITE').length > 0)
    return call
  }

  respond(status: number, wording: Wording = {}): void {
    this.carrier.reply(this.invite, status, wording)
  }

  get invite(): Received<SipRequest> {
    return this.carrier.last('INVITE')
  }

  /** Answers the call; its RTP arrives at a socket of its own. Resolves when the ACK is there. */
  async answer(): Promise<void> {
    const socket = createSocket('udp4')
    await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
    socket.on('message', packet => {
      // 0xff and 0x7f are silence in mu-law.
      if (packet.subarray(12).some(byte => (byte & 0x7f) < 0x60)) this.packetsWithSound++
    })
    socket.unref()
    this.respond(200, { body: sdp({ address: '127.0.0.1', port: socket.address().port }) })
    await this.until(() => this.carrier.all('ACK').length > 0)
  }

  /** Waits until `holds`, at most 5 s. */
  async until(holds: () => boolean): Promise<boolean> {
    const deadline = performance.now() + WAIT_MS
    while (!holds() && performance.now() < deadline) await new Promise(resolve => setTimeout(resolve, 10))
    return holds()
  }

  /** The report of a call that the script has ended, or that the engine ends now. */
  async report(call: Call, ends = false): Promise<CallReport> {
    if (ends) call.cancel()
    return call.report
  }
}
