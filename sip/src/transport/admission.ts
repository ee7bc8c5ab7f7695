import { peerKey, siteKey } from './ip-address.ts'
import type { StreamLimits } from './stream-limits.ts'

/** A connection that asks for a place. */
interface Newcomer {
  /** Remote IP literal. */
  readonly address: string
  /** Whether it begins with a TLS handshake. */
  readonly handshake: boolean
  /** The address is a trunk's, or one that we called: it may use the reserved places, and never makes room for others. */
  readonly isKnown: boolean
  /** Closes the connection, because its place goes to another. Not called after `release`. */
  evict(): void
}

/** The place of one accepted connection. All methods are idempotent. */
export interface AdmissionSlot {
  /** The TLS handshake has finished; the connection stays open. */
  handshakeDone(): void
  /** A message was sent on the connection: from now on it does not make room for others. */
  answered(): void
  /** The connection has closed. */
  release(): void
}

type AdmissionLimits = Pick<
  StreamLimits,
  | 'maxAccepted'
  | 'maxPerPeer'
  | 'maxPerSite'
  | 'maxHandshakes'
  | 'maxHandshakesPerPeer'
  | 'maxHandshakesPerSite'
  | 'knownShare'
>

interface Counts {
  connections: number
  handshakes: number
}

/**
 * Limits accepted connections and unfinished TLS handshakes: in total, per peer and per site. Known addresses have a
 * reserve. When the other places are taken, the oldest connection without an answer (of handshakes: the oldest unfinished
 * one) of the site that holds the most makes room, so that a few addresses cannot keep everybody else out. A site that holds
 * as many as any other is refused instead, which costs little: the site that lost a place to it would ask again, and a few addresses
 * would keep the process busy with handshakes that come to nothing.
 */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #byNetwork = new Map<string, Counts>()
  readonly #connections: Places
  readonly #handshakes: Places
  #refused = 0
  #evicted = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
    this.#connections = new Places(limits.maxAccepted, limits.knownShare)
    this.#handshakes = new Places(limits.maxHandshakes, limits.knownShare)
  }

  get accepted(): number {
    return this.#connections.taken
  }

  get handshakes(): number {
    return this.#handshakes.taken
  }

  /** Connections refused since the start. */
  get refused(): number {
    return this.#refused
  }

  /** Connections closed since the start because their place went to another. */
  get evicted(): number {
    return this.#evicted
  }

  /** A place for one more connection, or undefined if a limit is reached: then the caller closes it without a response. */
  admit(newcomer: Newcomer): AdmissionSlot | undefined {
    const { address, handshake, isKnown } = newcomer
    const peer = peerKey(address)
    const site = siteKey(address)
    const networks = peer === site ? [peer] : [peer, site]
    // Handshakes first: the end of one frees a place for a connection as well.
    const hasRoom =
      this.#isWithin(this.#byNetwork.get(peer), handshake, 'peer') &&
      (peer === site || this.#isWithin(this.#byNetwork.get(site), handshake, 'site')) &&
      (!handshake || this.#handshakes.makeRoom(isKnown, site)) &&
      this.#connections.makeRoom(isKnown, site)
    if (!hasRoom) {
      this.#refused++
      return undefined
    }
    return this.#take(newcomer, site, networks)
  }

  #isWithin(counts: Counts | undefined, handshake: boolean, network: 'peer' | 'site'): boolean {
    if (counts === undefined) return true
    const { maxPerPeer, maxPerSite, maxHandshakesPerPeer, maxHandshakesPerSite } = this.#limits
    const [connections, handshakes] =
      network === 'peer' ? [maxPerPeer, maxHandshakesPerPeer] : [maxPerSite, maxHandshakesPerSite]
    // One peer's unfinished handshakes must not block all other peers.
    return counts.connections < connections && (!handshake || counts.handshakes < handshakes)
  }

  #take({ handshake, isKnown, evict }: Newcomer, site: string, networks: readonly string[]): AdmissionSlot {
    this.#count(networks, 'connections', 1)
    if (handshake) this.#count(networks, 'handshakes', 1)
    const makeWay = () => {
      this.#evicted++
      release()
      evict()
    }
    const connection = this.#connections.take({ site, isKnown, makeWay })
    const shaking = handshake ? this.#handshakes.take({ site, isKnown, makeWay }) : undefined
    const handshakeDone = () => {
      if (shaking?.release()) this.#count(networks, 'handshakes', -1)
    }
    const release = () => {
      handshakeDone()
      if (connection.release()) this.#count(networks, 'connections', -1)
    }
    return { handshakeDone, answered: () => connection.keep(), release }
  }

  #count(networks: readonly string[], what: keyof Counts, change: 1 | -1): void {
    for (const network of networks) {
      const counts = this.#byNetwork.get(network) ?? { connections: 0, handshakes: 0 }
      counts[what] += change
      if (counts.connections === 0 && counts.handshakes === 0) this.#byNetwork.delete(network)
      else this.#byNetwork.set(network, counts)
    }
  }
}

interface Holder {
  readonly site: string
  readonly isKnown: boolean
  /** Releases the place and closes the connection. */
  makeWay(): void
}

interface Place {
  /** The holder does not make room for others any more. */
  keep(): void
  /** False: it was released before. */
  release(): boolean
}

/** A limited number of places, of which a share is reserved for known addresses. */
class Places {
  readonly #max: number
  readonly #maxUnknown: number
  /** By site, the oldest first: holders that can make room. */
  readonly #evictable = new Map<string, Map<Holder, number>>()
  #order = 0
  #taken = 0
  #unknown = 0

  constructor(max: number, knownShare: number) {
    this.#max = max
    this.#maxUnknown = max - Math.floor(max * knownShare)
  }

  get taken(): number {
    return this.#taken
  }

  /** False: every place is taken, and no holder makes room for this site. */
  makeRoom(isKnown: boolean, site: string): boolean {
    // A place that a site has moves only to a site that then still has no more.
    const least = isKnown ? 0 : (this.#evictable.get(site)?.size ?? 0)
    while (this.#taken >= this.#max || (!isKnown && this.#unknown >= this.#maxUnknown)) {
      const holder = this.#next()
      if (holder === undefined) return false
      const most = this.#evictable.get(holder.site)!.size
      if (least > 0 && most < least + 2) return false
      holder.makeWay()
    }
    return true
  }

  take(holder: Holder): Place {
    this.#taken++
    if (!holder.isKnown) {
      this.#unknown++
      const site = this.#evictable.get(holder.site) ?? new Map<Holder, number>()
      site.set(holder, this.#order++)
      this.#evictable.set(holder.site, site)
    }
    let held = true
    const release = () => {
      if (!held) return false
      held = false
      this.#taken--
      if (!holder.isKnown) this.#unknown--
      this.#keep(holder)
      return true
    }
    return { keep: () => this.#keep(holder), release }
  }

  #keep(holder: Holder): void {
    const site = this.#evictable.get(holder.site)
    site?.delete(holder)
    if (site?.size === 0) this.#evictable.delete(holder.site)
  }

  /** The oldest holder of the site with the most; among equal sites the oldest of all. */
  #next(): Holder | undefined {
    let most = 0
    let oldest: readonly [Holder, number] | undefined
    for (const site of this.#evictable.values()) {
      if (site.size < most) continue
      const [first] = site
      if (first === undefined || (site.size === most && oldest !== undefined && oldest[1] < first[1])) continue
      most = site.size
      oldest = first
    }
    return oldest?.[0]
  }
}
