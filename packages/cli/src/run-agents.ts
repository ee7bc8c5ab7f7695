import { AgentActions } from '@parley/conversation'
import type { AgentOrder, Agents, VoiceAgent } from '@parley/engine'
import type { TextAgents } from '@parley/jobs'
import { type Database, readSecretValues, type Sealer } from '@parley/store'
import type { Services } from './services.ts'

/** Size limit of the cache of agents. */
const MAX_CACHED = 500

/** Builds the agents of publications from the services of this process and the secrets of the environment. */
export class RunAgents implements Agents {
  readonly #services: Services
  readonly #database: Database
  readonly #sealer: Sealer
  /** By publication, the least recently used first. */
  readonly #cached = new Map<string, Promise<VoiceAgent>>()

  constructor(services: Services, database: Database, sealer: Sealer) {
    this.#services = services
    this.#database = database
    this.#sealer = sealer
  }

  create(order: AgentOrder): Promise<VoiceAgent> {
    const key = `${order.scope.tenant_id} ${order.agent_id} ${order.version}`
    const known = this.#cached.get(key)
    this.#cached.delete(key)
    const agent = known ?? this.#build(order)
    this.#cached.set(key, agent)
    // A failure is not cached: the service may be ready for the next call.
    agent.catch(() => this.#cached.get(key) === agent && this.#cached.delete(key))
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= MAX_CACHED) break
      this.#cached.delete(oldest)
    }
    return agent
  }

  /** Agents for chats and tasks: the same models and actions, without a voice. */
  readonly text: TextAgents = async (plan, { scope }) => {
    const defaultModel = await this.#services.readyModel(plan)
    return {
      models: ref => (ref === null ? defaultModel : this.#services.modelOf(ref)),
      actions: ledger => new AgentActions({ ...this.#services.actionServices, ledger, secrets: this.#secrets(scope) }),
      // A run in text has no call to transfer.
      transferPolicy: () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }),
    }
  }

  async #build({ scope, agent_id, version, plan }: AgentOrder): Promise<VoiceAgent> {
    const agent = await this.#services.agent(plan, { id: agent_id, version })
    const secrets = this.#secrets(scope)
    return {
      ...agent,
      actions: ledger => new AgentActions({ ...this.#services.actionServices, ledger, secrets }),
    }
  }

  #secrets(scope: AgentOrder['scope']) {
    return {
      get: async (ref: { readonly id: string; readonly version: string }) =>
        (await readSecretValues(this.#database.within(scope), scope, this.#sealer, ref)).pinned,
    }
  }
}
