import type { Scope } from '@parley/contract'
import type { Plan } from '@parley/flow'
import type { VoiceAgent } from '../voice/voice-agent.ts'

/** A publication whose agent is to talk. */
export interface AgentOrder {
  readonly scope: Scope
  readonly agent_id: string
  readonly version: number
  readonly plan: Plan
}

/** Makes the agents of publications. */
export interface Agents {
  /**
   * With everything it needs to talk. Throws `ParleyError` that names what is not ready ("voice_not_ready",
   * "model_not_ready", …).
   */
  agent(order: AgentOrder): Promise<VoiceAgent>
}
