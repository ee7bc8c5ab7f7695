import { createHash } from 'node:crypto'
import { RecentMap } from '@parley/kernel'
import type { Bus, Database, KeyHolder } from '@parley/store'

const FRESH_MS = 5000
const UNKNOWN_MS = 2000
const MAX_CACHED = 20_000
/** Twice as many are stored at most. */
const MAX_UNKNOWN = 10_000
const TOUCH_EVERY_MS = 10_000
const MAX_TOUCHED = 10_000

interface CachedKey {
  readonly holder: KeyHolder
  /** Unix ms until which the entry is valid. */
  readonly freshUntil: number
}

interface KeyWatch {
  readonly holder: KeyHolder
  readonly onChange: () => void
}

interface ApiKeyCacheOptions {
  readonly database: Pick<Database, 'keyOf' | 'touchKeys'>
  readonly bus: Pick<Bus, 'subscribe'>
  /** Unix ms. */
  readonly now: () => number
  /** Called when storing the last uses of keys failed; the next use stores them again. */
  readonly onTouchFailed: (error: unknown) => void
}

/**
 * Looks up the holder of an API key by its secret and caches the result for 5 s (unknown secrets: 2 s), both bounded. An
 * entry is invalidated when the bus, or this process, reports a change of the key or its environment. The cache holds
 * the SHA-256 of a secret, not the secret.
 */
export class ApiKeyCache {
  readonly #options: ApiKeyCacheOptions
  readonly #known = new Map<string, CachedKey>()
  /** Unix ms until which a secret counts as unknown; clients choose these secrets. */
  #unknown = new RecentMap<string, number>(MAX_UNKNOWN)
  readonly #pending = new Map<string, Promise<KeyHolder | null>>()
  readonly #watches = new Set<KeyWatch>()
  #touched = new Set<string>()
  /** Counts changes of keys: a lookup that began before a change is not cached. */
  #changes = 0
  readonly #stop: () => void

  constructor(options: ApiKeyCacheOptions) {
    this.#options = options
    const changed = (id: string) => this.invalidate(id)
    const missed = () => this.#invalidateAll()
    const endings = [options.bus.subscribe('keys', changed, missed), options.bus.subscribe('tenants', changed, missed)]
    const timer = setInterval(() => void this.#touch(), TOUCH_EVERY_MS).unref()
    this.#stop = () => {
      clearInterval(timer)
      for (const end of endings) end()
    }
  }

  /**
   * The holder of `secret`; null: unknown, revoked or expired. `mayAsk` decides whether the database may be queried for
   * a secret that is not in the cache: when false, the result is `withheld`. An expired entry is always queried again.
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
    else holder = await this.#query(name, hash)
    if (holder === null || isExpired(holder, now)) return null
    if (this.#touched.size < MAX_TOUCHED) this.#touched.add(holder.key_id)
    return holder
  }

  /** Invalidates the entries of a key or of an environment, and lookups under way. */
  invalidate(id: string): void {
    this.#changes += 1
    // A request after the change must not share a lookup that began before it.
    this.#pending.clear()
    for (const [name, { holder }] of this.#known) if (belongsTo(holder, id)) this.#known.delete(name)
    for (const { holder, onChange } of this.#watches) if (belongsTo(holder, id)) onChange()
  }

  /** Calls `onChange` after every change of the holder's key or environment, until the returned function is called. */
  watch(holder: KeyHolder, onChange: () => void): () => void {
    const watch = { holder, onChange }
    this.#watches.add(watch)
    return () => void this.#watches.delete(watch)
  }

  /** Stores the last uses and ends the subscriptions. */
  async close(): Promise<void> {
    this.#stop()
    await this.#touch()
  }

  #invalidateAll(): void {
    this.#changes += 1
    this.#pending.clear()
    this.#known.clear()
    this.#unknown = new RecentMap(MAX_UNKNOWN)
    for (const { onChange } of this.#watches) onChange()
  }

  /** Concurrent requests with one secret share one query. */
  #query(name: string, hash: Buffer): Promise<KeyHolder | null> {
    const pending = this.#pending.get(name)
    if (pending !== undefined) return pending
    const changes = this.#changes
    const query = this.#options.database
      .keyOf(hash)
      .then(holder => {
        if (changes === this.#changes) this.#store(name, holder)
        return holder
      })
      .finally(() => {
        if (this.#pending.get(name) === query) this.#pending.delete(name)
      })
    this.#pending.set(name, query)
    return query
  }

  #store(name: string, holder: KeyHolder | null): void {
    const now = this.#options.now()
    this.#known.delete(name)
    if (holder === null) return this.#unknown.set(name, now + UNKNOWN_MS)
    if (this.#known.size >= MAX_CACHED) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(name, { holder, freshUntil: now + FRESH_MS })
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

/** `id`: of a key or of an environment. */
function belongsTo(holder: KeyHolder, id: string): boolean {
  return holder.key_id === id || holder.scope.tenant_id === id
}

/** The overlap of a rotated secret may end while its entry is cached. */
function isExpired(holder: KeyHolder, now: number): boolean {
  return holder.valid_until !== null && Date.parse(holder.valid_until) <= now
}
