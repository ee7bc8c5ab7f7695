import { createHash } from 'node:crypto'
import type { Bus, Database, KeyHolder } from '@parley/store'

const FRESH_MS = 5000
const UNKNOWN_MS = 2000
const MAX_KNOWN = 20_000
const MAX_UNKNOWN = 20_000
const TOUCH_EVERY_MS = 10_000
const MAX_TOUCHED = 10_000

interface Known {
  readonly holder: KeyHolder
  /** Unix ms until which the database is not asked again. */
  readonly freshUntil: number
}

export interface KeyHoldersOptions {
  readonly database: Pick<Database, 'keyOf' | 'touchKeys'>
  readonly bus: Pick<Bus, 'subscribe'>
  /** Unix ms. */
  readonly now: () => number
  /** Told when noting that keys were used failed; they are noted with the next use. */
  readonly onTouchFailed: (error: unknown) => void
}

/**
 * Whom the secrets that come belong to. What the database said is kept for 5 s (of unknown secrets: 2 s), both bounded,
 * and dropped at once when the bus, or this process, says that a key or its environment changed. Secrets themselves are
 * not kept, only their SHA-256.
 */
export class KeyHolders {
  readonly #options: KeyHoldersOptions
  readonly #known = new Map<string, Known>()
  readonly #unknown = new Map<string, number>()
  readonly #asking = new Map<string, Promise<KeyHolder | null>>()
  #touched = new Set<string>()
  /** Rises with every change of a key: an answer that was asked for before is not kept. */
  #changes = 0
  readonly #stop: () => void

  constructor(options: KeyHoldersOptions) {
    this.#options = options
    const changed = (id: string) => this.drop(id)
    const missed = () => this.#dropAll()
    const endings = [options.bus.subscribe('keys', changed, missed), options.bus.subscribe('tenants', changed, missed)]
    const timer = setInterval(() => void this.#touch(), TOUCH_EVERY_MS).unref()
    this.#stop = () => {
      clearInterval(timer)
      for (const end of endings) end()
    }
  }

  /**
   * The holder of `secret`; null for none. `mayAsk` says whether the database may be asked about a secret never seen:
   * when not, the answer is `withheld`. A secret that was known lately may always be asked about.
   * Throws what the database throws.
   */
  async holderOf(secret: string, mayAsk: () => boolean): Promise<KeyHolder | null | 'withheld'> {
    const hash = createHash('sha256').update(secret).digest()
    const name = hash.toString('latin1')
    const now = this.#options.now()
    const known = this.#known.get(name)
    let holder: KeyHolder | null
    if (known !== undefined && now < known.freshUntil) holder = known.holder
    else if ((this.#unknown.get(name) ?? 0) > now) return null
    else if (known === undefined && !mayAsk()) return 'withheld'
    else holder = await this.#ask(name, hash)
    if (holder === null || isOver(holder, now)) return null
    if (this.#touched.size < MAX_TOUCHED) this.#touched.add(holder.key_id)
    return holder
  }

  /** Forgets what is known of a key or of an environment's keys, and of everything being asked now. */
  drop(id: string): void {
    this.#changes += 1
    // Who comes after the change must not get the answer to a question from before it.
    this.#asking.clear()
    for (const [name, { holder }] of this.#known)
      if (holder.key_id === id || holder.scope.tenant_id === id) this.#known.delete(name)
  }

  /** Notes the last uses, and listens no more. */
  async close(): Promise<void> {
    this.#stop()
    await this.#touch()
  }

  #dropAll(): void {
    this.#changes += 1
    this.#asking.clear()
    this.#known.clear()
    this.#unknown.clear()
  }

  /** One question at a time per secret, however many requests bring it. */
  #ask(name: string, hash: Buffer): Promise<KeyHolder | null> {
    const asking = this.#asking.get(name)
    if (asking !== undefined) return asking
    const changes = this.#changes
    const asked = this.#options.database
      .keyOf(hash)
      .then(holder => {
        if (changes === this.#changes) this.#keep(name, holder)
        return holder
      })
      .finally(() => {
        if (this.#asking.get(name) === asked) this.#asking.delete(name)
      })
    this.#asking.set(name, asked)
    return asked
  }

  #keep(name: string, holder: KeyHolder | null): void {
    const now = this.#options.now()
    this.#known.delete(name)
    if (holder === null) bounded(this.#unknown, MAX_UNKNOWN).set(name, now + UNKNOWN_MS)
    else bounded(this.#known, MAX_KNOWN).set(name, { holder, freshUntil: now + FRESH_MS })
  }

  async #touch(): Promise<void> {
    if (this.#touched.size === 0) return
    const touched = this.#touched
    this.#touched = new Set()
    try {
      await this.#options.database.touchKeys([...touched])
    } catch (error) {
      this.#options.onTouchFailed(error)
    }
  }
}

/** Of a rotated secret the overlap may end while it is kept. */
function isOver(holder: KeyHolder, now: number): boolean {
  return holder.valid_until !== null && Date.parse(holder.valid_until) <= now
}

/** Makes room by letting the oldest go. */
function bounded<Value>(kept: Map<string, Value>, atMost: number): Map<string, Value> {
  if (kept.size >= atMost) kept.delete(kept.keys().next().value!)
  return kept
}
