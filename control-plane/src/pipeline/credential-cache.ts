import { hash as digest } from 'node:crypto'
import { RecentMap } from '@parley/kernel'
import type { Bus, Database, KeyHolder, SessionHolder } from '@parley/store'

/** Topics whose ids are those of a key, a member, a session or an environment. */
export const TOPICS = ['keys', 'people', 'tenants'] as const

const FRESH_MS = 5000
const UNKNOWN_MS = 2000
const MAX_CACHED = 20_000
/** Twice as many are stored at most. */
const MAX_UNKNOWN = 10_000
const TOUCH_EVERY_MS = 10_000
const MAX_TOUCHED = 10_000

/** Who a request comes from, as its API key or its session says. */
export type CredentialHolder = KeyHolder | SessionHolder

/** An API key, or the token of a session with the environment that the request names. */
export type PresentedSecret =
  | { readonly key: string }
  | { readonly session: string; readonly environment: 'production' | 'sandbox' }

interface CachedHolder {
  readonly holder: CredentialHolder
  /** Unix ms until which the entry is valid. */
  readonly freshUntil: number
}

interface HolderWatch {
  readonly holder: CredentialHolder
  readonly onChange: () => void
}

interface CredentialCacheOptions {
  readonly database: Pick<Database, 'keyOf' | 'touchKeys' | 'people'>
  readonly bus: Pick<Bus, 'subscribe'>
  /** Unix ms. */
  readonly now: () => number
  /** Called when storing the last uses of keys and sessions failed; the next use stores them again. */
  readonly onTouchFailed: (error: unknown) => void
}

/**
 * Looks up the holder of an API key or a session by its secret and caches the result for 5 s (unknown secrets: 2 s), both
 * bounded. An entry is invalidated when the bus, or this process, reports a change of the key, the session, the member or
 * the environment. The cache holds the SHA-256 of a secret, not the secret.
 */
export class CredentialCache {
  readonly #options: CredentialCacheOptions
  readonly #known = new Map<string, CachedHolder>()
  /** Unix ms until which a secret counts as unknown; clients choose these secrets. */
  #unknown = new RecentMap<string, number>(MAX_UNKNOWN)
  readonly #pending = new Map<string, Promise<CredentialHolder | null>>()
  readonly #watches = new Set<HolderWatch>()
  #touchedKeys = new Set<string>()
  #touchedSessions = new Set<string>()
  /** Counts changes of holders: a lookup that began before a change is not cached. */
  #changes = 0
  readonly #stop: () => void

  constructor(options: CredentialCacheOptions) {
    this.#options = options
    const changed = (id: string) => this.invalidate(id)
    const missed = () => this.#invalidateAll()
    const endings = TOPICS.map(topic => options.bus.subscribe(topic, changed, missed))
    const timer = setInterval(() => void this.#touch(), TOUCH_EVERY_MS).unref()
    this.#stop = () => {
      clearInterval(timer)
      for (const end of endings) end()
    }
  }

  /**
   * The holder of the secret; null: unknown, revoked or expired. `mayAsk` decides whether the database may be queried for
   * a secret that is not in the cache: when false, the result is `withheld`. An expired entry is always queried again.
   * Throws what the database throws.
   */
  async holderOf(secret: { readonly key: string }, mayAsk: () => boolean): Promise<KeyHolder | null | 'withheld'>
  async holderOf(secret: PresentedSecret, mayAsk: () => boolean): Promise<CredentialHolder | null | 'withheld'>
  async holderOf(secret: PresentedSecret, mayAsk: () => boolean): Promise<CredentialHolder | null | 'withheld'> {
    const hash = digest('sha256', 'key' in secret ? secret.key : secret.session, 'buffer')
    const name = nameOf(secret, hash)
    const now = this.#options.now()
    const known = this.#known.get(name)
    let holder: CredentialHolder | null
    if (known !== undefined && now < known.freshUntil) holder = known.holder
    else if ((this.#unknown.get(name) ?? 0) > now) return null
    else if (known === undefined && !mayAsk()) return 'withheld'
    else holder = await this.#query(name, () => this.#lookUp(secret, hash))
    if (holder === null || isExpired(holder, now)) return null
    this.#noteUse(holder)
    return holder
  }

  /** Invalidates the entries of a key, a session, a member or an environment, and lookups under way. */
  invalidate(id: string): void {
    this.#changes += 1
    // A request after the change must not share a lookup that began before it.
    this.#pending.clear()
    for (const [name, { holder }] of this.#known) if (belongsTo(holder, id)) this.#known.delete(name)
    for (const { holder, onChange } of this.#watches) if (belongsTo(holder, id)) onChange()
  }

  /** Calls `onChange` after every change of the holder or its environment, until the returned function is called. */
  watch(holder: CredentialHolder, onChange: () => void): () => void {
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
  #query(name: string, lookUp: () => Promise<CredentialHolder | null>): Promise<CredentialHolder | null> {
    const pending = this.#pending.get(name)
    if (pending !== undefined) return pending
    const changes = this.#changes
    const query = lookUp()
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

  #lookUp(secret: PresentedSecret, hash: Buffer): Promise<CredentialHolder | null> {
    const { database } = this.#options
    return 'key' in secret ? database.keyOf(hash) : database.people.sessionOf(hash, secret.environment)
  }

  #noteUse(holder: CredentialHolder): void {
    const keyId = 'key_id' in holder ? holder.key_id : holder.key?.key_id
    if (keyId !== undefined && this.#touchedKeys.size < MAX_TOUCHED) this.#touchedKeys.add(keyId)
    if ('session_id' in holder && this.#touchedSessions.size < MAX_TOUCHED) this.#touchedSessions.add(holder.session_id)
  }

  #store(name: string, holder: CredentialHolder | null): void {
    const now = this.#options.now()
    this.#known.delete(name)
    // The environment may be created at any moment.
    if (holder?.scope === null) return
    if (holder === null) return this.#unknown.set(name, now + UNKNOWN_MS)
    if (this.#known.size >= MAX_CACHED) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(name, { holder, freshUntil: now + FRESH_MS })
  }

  async #touch(): Promise<void> {
    const [keys, sessions] = [this.#touchedKeys, this.#touchedSessions]
    this.#touchedKeys = new Set()
    this.#touchedSessions = new Set()
    const { database } = this.#options
    try {
      if (keys.size > 0) await database.touchKeys([...keys])
      if (sessions.size > 0) await database.people.touchSessions([...sessions])
    } catch (error) {
      this.#options.onTouchFailed(error)
    }
  }
}

/** One token names a session in each environment of its organisation. */
function nameOf(secret: PresentedSecret, hash: Buffer): string {
  return 'key' in secret ? hash.toString('latin1') : `${secret.environment} ${hash.toString('latin1')}`
}

/** `id`: of a key, a session, a member or an environment. */
function belongsTo(holder: CredentialHolder, id: string): boolean {
  if (holder.scope?.tenant_id === id) return true
  if ('key_id' in holder) return holder.key_id === id
  return holder.session_id === id || holder.user_id === id || holder.key?.key_id === id
}

/** The overlap of a rotated secret, or a session, may end while its entry is cached. */
function isExpired(holder: CredentialHolder, now: number): boolean {
  return holder.valid_until !== null && Date.parse(holder.valid_until) <= now
}
