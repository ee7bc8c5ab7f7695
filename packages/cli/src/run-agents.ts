import { AgentActions, type KnowledgeSearcher } from '@parley/conversation'
import type { AgentOrder, Agents, VoiceAgent } from '@parley/engine'
import type { TextAgents } from '@parley/jobs'
import type { KnowledgeSource } from '@parley/knowledge'
import { type Database, readSecretValues, type Sealer } from '@parley/store'
import type { EnvironmentServices } from './environment-services.ts'
import type { Services } from './services.ts'

/** Size limit of the cache of agents. */
const MAX_CACHED = 500

/** An agent and the services that it was built from. */
interface CachedAgent {
  readonly services: Services
  readonly agent: Promise<VoiceAgent>
}

/** Builds the agents of publications from the services and the secrets of the environment. */
export class RunAgents implements Agents {
  readonly #services: EnvironmentServices
  readonly #database: Database
  readonly #sealer: Sealer
  readonly #knowledge: KnowledgeSource
  /** By publication, the least recently used first. */
  readonly #cached = new Map<string, CachedAgent>()

  constructor(services: EnvironmentServices, database: Database, sealer: Sealer, knowledge: KnowledgeSource) {
    this.#services = services
    this.#database = database
    this.#sealer = sealer
    this.#knowledge = knowledge
  }

  async create(order: AgentOrder): Promise<VoiceAgent> {
    const services = await this.#services.of(order.scope)
    const key = `${order.scope.tenant_id} ${order.agent_id} ${order.version}`
    const known = this.#cached.get(key)
    this.#cached.delete(key)
    // The environment's keys may have changed since.
    const cached = known?.services === services ? known : { services, agent: this.#build(order, services) }
    const { agent } = cached
    this.#cached.set(key, cached)
    // A failure is not cached: the service may be ready for the next call.
    agent.catch(() => this.#cached.get(key) === cached && this.#cached.delete(key))
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= MAX_CACHED) break
      this.#cached.delete(oldest)
    }
    return agent
  }

  /** Agents for chats and tasks: the same models and actions, without a voice. */
  readonly text: TextAgents = async (plan, { scope }) => {
    const services = await this.#services.of(scope)
    const defaultModel = await services.readyModel(plan)
    return {
      models: ref => (ref === null ? defaultModel : services.modelOf(ref)),
      actions: ledger => new AgentActions({ ...services.actionServices, ledger, secrets: this.#secrets(scope) }),
      knowledge: this.#searcher(scope),
      // A run in text has no call to transfer.
      transferPolicy: () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }),
    }
  }

  async #build({ scope, agent_id, version, plan }: AgentOrder, services: Services): Promise<VoiceAgent> {
    const agent = await services.agent(plan, { id: agent_id, version })
    const secrets = this.#secrets(scope)
    return {
      ...agent,
      knowledge: this.#searcher(scope),
      actions: ledger => new AgentActions({ ...services.actionServices, ledger, secrets }),
    }
  }

  #searcher(scope: AgentOrder['scope']): KnowledgeSearcher {
    return { search: (query, signal) => this.#knowledge.search(scope, query, signal) }
  }

  #secrets(scope: AgentOrder['scope']) {
    return {
      get: async (ref: { readonly id: string; readonly version: string }) =>
        (await readSecretValues(this.#database.within(scope), scope, this.#sealer, ref)).pinned,
    }
  }
}
