import type { Scope } from '@parley/contract'
import type { Time, Timer } from '@parley/kernel'
import type { TextEmbedder, VendorAccess } from '@parley/providers'
import { type Database, type ProviderKey, type Queries, readProviderKeys, type Sealer } from '@parley/store'
import type { Settings } from './environment.ts'
import type { Services } from './services.ts'

/** Environments with keys of their own whose services stay open. */
const MAX_OPEN = 500
/** Replaced services that stay open for runs that began with them: of one environment, and in all. */
const MAX_RETIRED_OF_ONE = 4
const MAX_RETIRED = 1000
/** Longer than any call: services that were replaced are closed after it. */
const RETIRED_MS = 25 * 3_600_000

interface EnvironmentServicesOptions {
  /** With the keys of the platform. */
  readonly services: Services
  readonly settings: Pick<Settings, 'vendorServers'>
  readonly database: Pick<Database, 'within'>
  readonly sealer: Sealer
  readonly time: Time
  /** Default {@link MAX_RETIRED_OF_ONE}. */
  readonly maxRetiredOfOne?: number
  /** Default {@link MAX_RETIRED}. */
  readonly maxRetired?: number
}

/** Services that no new run gets. */
interface RetiredServices {
  readonly services: Services
  readonly timer: Timer
}

interface OpenServices {
  /** Changes with each of the environment's keys. */
  readonly digest: string
  readonly services: Services
}

/**
 * The services of each environment: those of the platform, and in place of them those with the environment's own keys. A run keeps
 * the services that it began with; of an environment that replaces its keys again and again during one call, the oldest are closed.
 */
export class EnvironmentServices {
  readonly #options: EnvironmentServicesOptions
  /** By tenant, the least recently used first. */
  readonly #open = new Map<string, OpenServices>()
  /** By tenant, the oldest first. */
  readonly #retired = new Map<string, RetiredServices[]>()
  #retiredCount = 0

  constructor(options: EnvironmentServicesOptions) {
    this.#options = options
  }

  /**
   * The services for a new run. Throws what the database throws, and `seal_broken`. `db`: the transaction of a request, which must not wait for
   * a second connection while it holds one: many such requests would wait for each other. Default: a connection of its own.
   */
  async of(scope: Scope, db?: Queries): Promise<Services> {
    const { database, sealer, services } = this.#options
    const { keys, digest } = await readProviderKeys(db ?? database.within(scope), scope, sealer)
    const known = this.#open.get(scope.tenant_id)
    this.#open.delete(scope.tenant_id)
    if (known !== undefined && known.digest !== digest) this.#retire(scope.tenant_id, known.services)
    if (digest === '') return services
    const open = known?.digest === digest ? known : { digest, services: services.withOwnAccess(this.#accessOf(keys)) }
    this.#open.set(scope.tenant_id, open)
    for (const [oldest, { services: unused }] of this.#open) {
      if (this.#open.size <= MAX_OPEN) break
      this.#open.delete(oldest)
      this.#retire(oldest, unused)
    }
    return open.services
  }

  /** The embedding model for an environment; null: there is none, or no key for it. */
  async embedder(
    { provider, model_id }: { readonly provider: string; readonly model_id: string },
    scope: Scope,
  ): Promise<TextEmbedder | null> {
    return (await this.of(scope)).embedder(`${provider}/${model_id}`)
  }

  async close(): Promise<void> {
    const retired = [...this.#retired.values()].flat()
    for (const { timer } of retired) timer.cancel()
    const open = [...this.#open.values()].map(({ services }) => services)
    await Promise.all([...open, ...retired.map(({ services }) => services)].map(services => services.close()))
  }

  #accessOf(keys: readonly ProviderKey[]): Record<string, VendorAccess> {
    const { services, settings } = this.#options
    return Object.fromEntries(
      keys.map(({ provider, key, endpoint, models }) => {
        const server = settings.vendorServers[provider]
        const access = {
          apiKey: key,
          baseUrl: endpoint ?? server?.baseUrl ?? null,
          models: endpoint === null ? (server?.models ?? []) : models,
          ...(endpoint !== null && { lookup: services.egress.lookupFor(endpoint) }),
        }
        return [provider, access]
      }),
    )
  }

  #retire(tenantId: string, services: Services): void {
    const { time, maxRetiredOfOne = MAX_RETIRED_OF_ONE, maxRetired = MAX_RETIRED } = this.#options
    const ofTenant = this.#retired.get(tenantId) ?? []
    const timer = time.at(time.now() + RETIRED_MS, () => this.#closeOldest(tenantId))
    ofTenant.push({ services, timer })
    this.#retired.set(tenantId, ofTenant)
    this.#retiredCount++
    if (ofTenant.length > maxRetiredOfOne) this.#closeOldest(tenantId)
    else if (this.#retiredCount > maxRetired) this.#closeOldest(this.#tenantWithMost())
  }

  /** Timers run in the order of retirement, so that the oldest is the one whose time is over. */
  #closeOldest(tenantId: string): void {
    const ofTenant = this.#retired.get(tenantId) ?? []
    const oldest = ofTenant.shift()
    if (ofTenant.length === 0) this.#retired.delete(tenantId)
    if (oldest === undefined) return
    this.#retiredCount--
    oldest.timer.cancel()
    void oldest.services.close()
  }

  #tenantWithMost(): string {
    let [most, tenantId] = [0, '']
    for (const [tenant, { length }] of this.#retired) if (length > most) [most, tenantId] = [length, tenant]
    return tenantId
  }
}
