import { systemRandom, systemTime } from '@parley/kernel'
import { ThreadedMediaPlane } from '@parley/media'
import { type LogEntry, SocketTransport, SystemResolver, type TlsIdentity, type TransportName } from '@parley/sip'
import { z } from 'zod'
import { Carrier } from '../carrier/carrier.ts'
import { CarrierLedger } from '../carrier/carrier-ledger.ts'
import { digestAccount } from '../carrier/digest-gate.ts'
import type { CarrierLedgerEntry } from '../carrier/ledger-entry.ts'
import { LedgerQueries } from '../carrier/ledger-queries.ts'
import { numberRules } from '../carrier/number-plan.ts'
import { JsonLinesFile, readJsonLines } from './json-lines-file.ts'

const port = z.int().min(0).max(65_535)

const media = z.strictObject({
  /** srtp: SDES or nothing; rtp: plain or nothing. */
  kind: z.enum(['rtp', 'srtp']),
  /** Audio that is sent on answered calls; default silence. */
  play: z.enum(['silence', 'tone']).default('silence'),
  /** RTP and RTCP ports, inclusive; each call takes two. Default 40000-49999. */
  ports: z.strictObject({ from: port, to: port }).default({ from: 40_000, to: 49_999 }),
  /** Media threads; default 1. */
  threads: z.int().min(1).max(64).default(1),
})

export const carrierConfig = z.strictObject({
  /** IPv4 address to listen on; default 127.0.0.1. */
  bind: z.ipv4().default('127.0.0.1'),
  /** Port by transport, 0: any free one; absent: does not listen. Default: UDP on any port. */
  transports: z.strictObject({ udp: port.optional(), tcp: port.optional(), tls: port.optional() }).default({ udp: 0 }),
  /** null: calls are answered without any media. Default: plain RTP, silence. */
  media: media.nullable().prefault({ kind: 'rtp' }),
  /** null (default): calls need no credentials. */
  digest: digestAccount.nullable().default(null),
  /** Default: every number answers at once. */
  numbers: numberRules.default([
    { number: '*', ringAfterMs: 0, behaviour: { do: 'answer', afterMs: 0, byes: 'answered' } },
  ]),
  /** Handling of REFER: "take" calls its target according to `numbers`; a number is the status that refuses it. Default 403. */
  transfers: z.union([z.literal('take'), z.int().min(300).max(699)]).optional(),
  /** Calls at once; one more is answered 503. Default 5000. */
  mostCalls: z.int().min(1).max(100_000).default(5000),
  /** JSON lines file that gets every row as it happens; default: none. */
  ledgerFile: z.string().min(1).optional(),
  /** Rows kept in memory for queries; default 1,000,000. */
  keepRows: z.int().min(0).max(10_000_000).default(1_000_000),
})

export type CarrierConfig = z.input<typeof carrierConfig>

export interface FakeCarrierOptions extends CarrierConfig {
  /** Needed for TLS, listening or dialling. */
  readonly tls?: TlsIdentity
  readonly log?: (entry: LogEntry) => void
}

/** A carrier over real sockets. */
export class FakeCarrier {
  readonly carrier: Carrier
  readonly #bind: string
  readonly #transport: SocketTransport
  readonly #resolver: SystemResolver
  readonly #plane: ThreadedMediaPlane | null
  readonly #file: JsonLinesFile | null
  #closing: Promise<void> | null = null

  private constructor(
    parts: Pick<FakeCarrier, 'carrier'> & {
      bind: string
      transport: SocketTransport
      resolver: SystemResolver
      plane: ThreadedMediaPlane | null
      file: JsonLinesFile | null
    },
  ) {
    this.carrier = parts.carrier
    this.#bind = parts.bind
    this.#transport = parts.transport
    this.#resolver = parts.resolver
    this.#plane = parts.plane
    this.#file = parts.file
  }

  /**
   * Listens. Rejects with ZodError for invalid options, with "listen_failed", "bad_options",
   * "bad_certificate", "invalid_port_range", or as the ledger's file does; nothing stays open then.
   */
  static async open(options: FakeCarrierOptions = {}): Promise<FakeCarrier> {
    const { tls, log, ...rest } = options
    const config = carrierConfig.parse(rest)
    const { bind, transports } = config
    const resolver = new SystemResolver({ time: systemTime })
    const transport = await SocketTransport.open({
      bind,
      udpPort: transports.udp ?? null,
      tcpPort: transports.tcp ?? null,
      tlsPort: transports.tls ?? null,
      ...(tls && { tls }),
      resolver,
      time: systemTime,
      random: systemRandom,
      // One engine may open many connections, and is the only peer.
      limits: { maxPerPeer: 10_000, maxHandshakesPerPeer: 256 },
    })
    let plane: ThreadedMediaPlane | null = null
    let file: JsonLinesFile | null = null
    try {
      if (config.media !== null) {
        const { threads, ports } = config.media
        plane = await ThreadedMediaPlane.start({ threads, ports, bindAddress: bind })
      }
      file = config.ledgerFile === undefined ? null : new JsonLinesFile(config.ledgerFile)
      const sink = file === null ? {} : { sink: (entry: CarrierLedgerEntry) => file!.append(entry) }
      const carrier = new Carrier({
        time: systemTime,
        wallAtZero: Date.now() - systemTime.now(),
        random: systemRandom,
        transport,
        plane,
        security: config.media?.kind === 'srtp' ? 'srtp-required' : 'rtp-only',
        play: config.media?.play ?? 'silence',
        address: bind,
        digest: config.digest,
        numbers: config.numbers,
        mostCalls: config.mostCalls,
        ...(config.transfers !== undefined && { transfers: config.transfers }),
        ledger: new CarrierLedger({ keep: config.keepRows, ...sink }),
        ...(log && { log }),
      })
      return new FakeCarrier({ carrier, bind, transport, resolver, plane, file })
    } catch (error) {
      file?.close()
      await Promise.allSettled([plane?.close(), transport.close()])
      throw error
    }
  }

  /** Port of a transport; null: it does not listen there. */
  port(transport: TransportName): number | null {
    return this.#transport.address(transport)?.port ?? null
  }

  /** URI at which `number` of this carrier is called. */
  uri(number: string, transport: TransportName = 'udp'): string {
    return `sip:${number}@${this.#bind}:${this.port(transport)};transport=${transport}`
  }

  /** Ends all calls and closes everything; then rejects if rows could not be written to the ledger's file. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.carrier.close()
    await Promise.allSettled([this.#plane?.close(), this.#transport.close()])
    this.#resolver.close()
    this.#file?.close()
    const { failure } = this.carrier.ledger
    if (failure !== null) throw failure
  }
}

/** Queries over the ledger file of a carrier process, which may still be running. */
export async function readCarrierLedger(path: string): Promise<LedgerQueries> {
  const entries: CarrierLedgerEntry[] = []
  for await (const row of readJsonLines(path)) entries.push(row as CarrierLedgerEntry)
  return new LedgerQueries(entries)
}
