import type { Scope } from '@parley/contract'
import type { TenantShare } from '@parley/store'
import { Crew } from './crew.ts'

interface OfTenant {
  readonly scope: Pick<Scope, 'tenant_id'>
}

export interface FairQueueOptions<Item extends OfTenant> {
  /** Jobs at once. */
  readonly size: number
  /** Of one tenant. */
  readonly eachAtMost: number
  /** What is due, at most so many, in the order in which tenants have their turns. */
  readonly take: (atMost: number, share: TenantShare) => Promise<readonly Item[]>
  /** Does not reject. */
  readonly job: (item: Item) => Promise<void>
  /** A job ended whose place others may wait for: time to fill it. */
  readonly onRoom: () => void
}

/** Jobs of tenants that share a crew: one whose jobs take long holds up no other's. */
export class FairQueue<Item extends OfTenant> {
  readonly #options: FairQueueOptions<Item>
  readonly #crew: Crew
  readonly #underWay = new Set<Item>()
  #after: string | null = null
  /** Nothing was looked for, since all places were taken. */
  #isFull = false
  /** Tenants that had all that one may have when we looked, and may have more. */
  #short = new Set<string>()

  constructor(options: FairQueueOptions<Item>) {
    this.#options = options
    this.#crew = new Crew(options.size)
  }

  /** Begins what is due and has a place; true: there may be more. Throws what `take` throws. */
  async fill(): Promise<boolean> {
    const { size, eachAtMost, take } = this.#options
    const atMost = size - this.#underWay.size
    this.#isFull = atMost === 0
    if (this.#isFull) return false
    const underWay = this.#tenants()
    const items = await take(atMost, { eachAtMost, underWay, after: this.#after })
    for (const item of items) this.#begin(item)
    const taken = [...underWay, ...items.map(({ scope }) => scope.tenant_id)]
    this.#short = new Set(taken.filter(tenant => countOf(taken, tenant) >= eachAtMost))
    // Jobs that ended since then told nobody.
    const now = this.#tenants()
    return items.length === atMost || [...this.#short].some(tenant => countOf(now, tenant) < eachAtMost)
  }

  /** Resolves when all that was begun has ended. */
  idle(): Promise<void> {
    return this.#crew.idle()
  }

  #begin(item: Item): void {
    this.#after = item.scope.tenant_id
    this.#underWay.add(item)
    this.#crew.begin(() => this.#options.job(item).finally(() => this.#end(item)))
  }

  #end(item: Item): void {
    this.#underWay.delete(item)
    if (this.#isFull || this.#short.has(item.scope.tenant_id)) this.#options.onRoom()
  }

  #tenants(): string[] {
    return [...this.#underWay].map(({ scope }) => scope.tenant_id)
  }
}

function countOf(tenants: readonly string[], tenant: string): number {
  return tenants.filter(one => one === tenant).length
}
