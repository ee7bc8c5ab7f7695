import type { Scope } from '@parley/contract'
import type { Plan } from '@parley/flow'
import { type Database, readPublication } from '@parley/store'

const MAX_PLANS = 200

/** Plans of publications, which never change; the least recently used one is evicted first. */
export class PlanCache {
  readonly #database: Database
  readonly #plans = new Map<string, Plan>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Null: there is no such publication. Throws what the database throws. */
  async planOf(scope: Scope, agentId: string, version: number): Promise<Plan | null> {
    const key = JSON.stringify([scope.tenant_id, agentId, version])
    const plan =
      this.#plans.get(key) ?? (await readPublication(this.#database.within(scope), scope, agentId, version))?.plan
    if (plan === undefined) return null
    this.#plans.delete(key)
    this.#plans.set(key, plan)
    for (const oldest of this.#plans.keys()) {
      if (this.#plans.size <= MAX_PLANS) break
      this.#plans.delete(oldest)
    }
    return plan
  }
}
