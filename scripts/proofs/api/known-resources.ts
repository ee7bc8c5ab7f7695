import { newAgent, newNumber, newSecret, newTrunk, publishedAgent, type World } from '@parley/control-plane/testing'
import { type Random, randomBelow } from '@parley/kernel'

const KEPT = 24

/** Values that exist, by the name of the member that takes them: what others delete meanwhile is made anew. */
export class KnownResources {
  readonly #world: World
  readonly #values = new Map<string, unknown[]>()

  constructor(world: World) {
    this.#world = world
  }

  /** Makes one more of each kind. */
  async grow(): Promise<void> {
    const world = this.#world
    const [draft, published, secret_id, trunk_id, number_id] = await Promise.all([
      newAgent(world),
      publishedAgent(world),
      newSecret(world),
      newTrunk(world),
      newNumber(world),
    ])
    const made = await world.call('keys.create', { body: { name: 'known', role: 'viewer' } })
    for (const agent of [draft, published]) {
      this.#add('agent_id', agent.agent_id)
      this.#add('draft_id', agent.draft_id)
    }
    this.#add('secret_id', secret_id)
    this.#add('trunk_id', trunk_id)
    this.#add('number_id', number_id)
    this.#add('key_id', String(made.key_id))
    this.#add('version', 0)
    this.#add('expected_revision', 1)
    this.#add('template', 'phone_outbound')
    this.#add('tenant_id', world.tenantId)
  }

  /** One of the values of that name; undefined where none is known. */
  pick(name: string, random: Random): unknown {
    const values = this.#values.get(name)
    return values?.[randomBelow(random, values.length)]
  }

  #add(name: string, value: unknown): void {
    const values = this.#values.get(name) ?? []
    if (values.length >= KEPT) values.shift()
    this.#values.set(name, [...values, value])
  }
}
