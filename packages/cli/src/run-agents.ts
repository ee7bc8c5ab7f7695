import { HttpActions } from '@parley/conversation'
import type { AgentOrder, Agents, VoiceAgent } from '@parley/engine'
import type { TextAgents } from '@parley/jobs'
import { type Database, readSecretValues, type Sealer } from '@parley/store'
import type { Services } from './services.ts'

/** Agents kept although nobody talks to them now. */
const KEPT = 500

/** The agents of publications, made of this process's services and the environment's secrets. */
export class RunAgents implements Agents {
  readonly #services: Services
  readonly #database: Database
  readonly #sealer: Sealer
  /** By publication; those that were used last are the last. */
  readonly #made = new Map<string, Promise<VoiceAgent>>()

  constructor(services: Services, database: Database, sealer: Sealer) {
    this.#services = services
    this.#database = database
    this.#sealer = sealer
  }

  agent(order: AgentOrder): Promise<VoiceAgent> {
    const key = `${order.scope.tenant_id} ${order.agent_id} ${order.version}`
    const known = this.#made.get(key)
    this.#made.delete(key)
    const made = known ?? this.#make(order)
    this.#made.set(key, made)
    // What was not ready may be by the next call.
    made.catch(() => this.#made.get(key) === made && this.#made.delete(key))
    for (const oldest of this.#made.keys()) {
      if (this.#made.size <= KEPT) break
      this.#made.delete(oldest)
    }
    return made
  }

  /** For runs in text: the same models and actions, without a voice. */
  readonly text: TextAgents = async (plan, { scope }) => {
    const own = await this.#services.readyModel(plan)
    return {
      models: ref => (ref === null ? own : this.#services.modelOf(ref)),
      actions: ledger => new HttpActions({ ...this.#services.actionServices, ledger, secrets: this.#secrets(scope) }),
      // There is no line to transfer.
      transferPolicy: () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }),
    }
  }

  async #make({ scope, agent_id, version, plan }: AgentOrder): Promise<VoiceAgent> {
    const agent = await this.#services.agent(plan, { id: agent_id, version })
    const secrets = this.#secrets(scope)
    return {
      ...agent,
      actions: ledger => new HttpActions({ ...this.#services.actionServices, ledger, secrets }),
    }
  }

  #secrets(scope: AgentOrder['scope']) {
    return {
      get: async (ref: { readonly id: string; readonly version: string }) =>
        (await readSecretValues(this.#database.within(scope), scope, this.#sealer, ref)).pinned,
    }
  }
}
