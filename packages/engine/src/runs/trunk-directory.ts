import { hash } from 'node:crypto'
import type { Ms, Time, Timer } from '@parley/kernel'
import { RepeatedFailureLog } from '@parley/runs'
import { type IpNetwork, IpNetworkTable, isInNetworks, type SipRequest } from '@parley/sip'
import type { Bus, InboundTrunk, TelephonyAcrossTenants } from '@parley/store'
import { tokensOf } from '../token-router.ts'
import { networkOf, trunkSources } from './trunk-details.ts'

/** How often the revision is read, in case the bus did not report a change. */
const POLL_MS: Ms = 1000
/** How often the names of trunks are resolved. */
const ADDRESSES_MS: Ms = 60_000

export interface TrunkDirectoryOptions {
  readonly telephony: TelephonyAcrossTenants
  readonly bus: Bus
  readonly time: Time
  /** Resolves a host name, for trunks without configured sources. May reject. */
  readonly addressesOf: (host: string) => Promise<readonly string[]>
  readonly onProblem: (what: string, error: unknown) => void
}

/** A trunk and the networks that its requests come from. */
interface Sources {
  readonly trunk: InboundTrunk
  networks: readonly IpNetwork[]
  /** Staff configured them: a request with the trunk's token must then come from one of them. */
  readonly areConfigured: boolean
}

/** The trunks that accept calls, in memory, so that a request without a valid token costs no query. Changes are known within 2 s. */
export class TrunkDirectory {
  readonly #options: TrunkDirectoryOptions
  readonly #reads: RepeatedFailureLog
  readonly #unsubscribe: () => void
  #revision = ''
  #byToken = new Map<string, Sources>()
  #all: readonly Sources[] = []
  /** By the networks of their sources: an unknown address is looked up for every request, also in a flood. */
  #bySource = new IpNetworkTable<InboundTrunk>()
  #timer: Timer | null = null
  #resolvedAt: Ms = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | null = null
  #isStale = false
  #closed = false

  private constructor(options: TrunkDirectoryOptions) {
    this.#options = options
    const { time, onProblem } = options
    this.#reads = new RepeatedFailureLog({
      name: 'reading the trunks (those read before stay in use)',
      time,
      onProblem,
    })
    const refresh = () => void this.#refresh()
    this.#unsubscribe = options.bus.subscribe('telephony', refresh, refresh)
  }

  /** Throws what the database throws. */
  static async open(options: TrunkDirectoryOptions): Promise<TrunkDirectory> {
    const directory = new TrunkDirectory(options)
    try {
      await directory.#read()
    } catch (error) {
      directory.close()
      throw error
    }
    directory.#schedule()
    return directory
  }

  /** All trunks that accept calls. Other objects after each change of any trunk or number. */
  get trunks(): readonly InboundTrunk[] {
    return this.#all.map(({ trunk }) => trunk)
  }

  /**
   * The trunk whose token is in the request. Null also if the trunk has configured sources and `sourceAddress` is not one of them, unless
   * it is one of `registered`: those whose registration the request's connection belongs to.
   */
  byToken(request: SipRequest, sourceAddress: string, registered: readonly InboundTrunk[] = []): InboundTrunk | null {
    for (const token of tokensOf(request)) {
      const found = this.#byToken.get(hash('sha256', token))
      if (found === undefined) continue
      const { token_sha256 } = found.trunk
      const isKnown = !found.areConfigured || registered.some(trunk => trunk.token_sha256 === token_sha256)
      return isKnown || isInNetworks(sourceAddress, found.networks) ? found.trunk : null
    }
    return null
  }

  /** The trunks that list the address. */
  bySource(sourceAddress: string): readonly InboundTrunk[] {
    return [...new Set(this.#bySource.find(sourceAddress))]
  }

  close(): void {
    this.#closed = true
    this.#unsubscribe()
    this.#timer?.cancel()
  }

  #schedule(): void {
    if (this.#closed) return
    const { time } = this.#options
    this.#timer?.cancel()
    this.#timer = time.at(time.now() + POLL_MS, () => void this.#refresh().finally(() => this.#schedule()))
  }

  /** One read at a time; a change reported meanwhile causes one more. */
  #refresh(): Promise<void> {
    if (this.#reading !== null) {
      this.#isStale = true
      return this.#reading
    }
    this.#reading = this.#read()
      .then(
        () => this.#reads.worked(),
        error => this.#reads.failed(error),
      )
      .finally(() => {
        this.#reading = null
        if (!this.#isStale) return
        this.#isStale = false
        void this.#refresh()
      })
    return this.#reading
  }

  async #read(): Promise<void> {
    const { telephony, time } = this.#options
    const revision = await telephony.revision()
    if (revision !== this.#revision) {
      const trunks = await telephony.inboundTrunks()
      const known = new Map(this.#all.map(sources => [sources.trunk.termination_uri, sources.networks]))
      this.#all = trunks.map(trunk => sourcesOf(trunk, known.get(trunk.termination_uri) ?? []))
      this.#byToken = new Map(this.#all.map(sources => [sources.trunk.token_sha256, sources]))
      this.#indexSources()
      this.#revision = revision
      this.#resolvedAt = Number.NEGATIVE_INFINITY
    }
    if (time.now() < this.#resolvedAt + ADDRESSES_MS) return
    this.#resolvedAt = time.now()
    // Resolving names may take seconds: the trunks are usable meanwhile.
    void this.#resolve(this.#all)
  }

  async #resolve(all: readonly Sources[]): Promise<void> {
    for (const sources of all) {
      if (sources.areConfigured) continue
      const addresses = await this.#options.addressesOf(sources.trunk.termination_uri).catch(() => [])
      // Another read has replaced these trunks, and resolves their names itself.
      if (this.#closed || all !== this.#all) return
      const isNew = sources.networks.length === 0
      sources.networks = addresses.flatMap(networkOf)
      if (isNew) for (const network of sources.networks) this.#bySource.add(network, sources.trunk)
    }
    this.#indexSources()
  }

  #indexSources(): void {
    const table = new IpNetworkTable<InboundTrunk>()
    for (const { trunk, networks } of this.#all) for (const network of networks) table.add(network, trunk)
    this.#bySource = table
  }
}

function sourcesOf(trunk: InboundTrunk, resolved: readonly IpNetwork[]): Sources {
  const areSet = (trunk.details.source?.length ?? 0) > 0
  return { trunk, networks: areSet ? (trunkSources(trunk.details) ?? []) : resolved, areConfigured: areSet }
}
