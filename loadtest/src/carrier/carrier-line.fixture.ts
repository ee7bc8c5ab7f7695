import { type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import { InlineMediaPlane, VirtualPacketNetwork } from '@parley/media'
import { type SipTransport, VirtualNetwork } from '@parley/sip'
import { Carrier, type CarrierOptions } from './carrier.ts'
import { CarrierLedger } from './carrier-ledger.ts'
import type { CarrierLedgerKind } from './ledger-entry.ts'

/** Two carriers in memory and in virtual time: `caller` acts as the engine, `carrier` is under test. */
export class CarrierLine {
  readonly time = new VirtualTime()
  readonly network: VirtualNetwork
  readonly carrier: Carrier
  readonly caller: Carrier
  readonly callerPlane: InlineMediaPlane
  readonly #media: VirtualPacketNetwork
  readonly #random = new SeededRandom(7)

  constructor(options: Partial<CarrierOptions> = {}) {
    const { time } = this
    this.network = new VirtualNetwork({ time, random: this.#random })
    this.#media = new VirtualPacketNetwork({ time, random: this.#random })
    this.carrier = this.#carrier('192.0.2.2', options)
    this.callerPlane = this.#plane('192.0.2.1')
    this.caller = this.#carrier('192.0.2.1', { security: options.security ?? 'rtp-only', plane: this.callerPlane })
  }

  /** Kinds of rows so far, in order. */
  get kinds(): readonly CarrierLedgerKind[] {
    return this.carrier.ledger.entries.map(entry => entry.kind)
  }

  async pass(ms: Ms): Promise<void> {
    for (let left = ms; left > 0; left -= 20) {
      this.time.advance(Math.min(20, left))
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    }
  }

  #plane(address: string): InlineMediaPlane {
    return new InlineMediaPlane({ time: this.time, random: this.#random, network: this.#media, address })
  }

  #carrier(address: string, options: Partial<CarrierOptions>): Carrier {
    const { time } = this
    const random = this.#random
    const transport: SipTransport = this.network.element({ address })
    return new Carrier({
      time,
      wallAtZero: Date.UTC(2026, 0, 1),
      random,
      transport,
      plane: this.#plane(address),
      security: 'rtp-only',
      address,
      digest: null,
      numbers: [{ number: '*', behaviour: { do: 'answer' } }],
      ledger: new CarrierLedger(),
      ...options,
    })
  }
}
