import type { Scope } from '@parley/contract'
import type { Plan } from '@parley/flow'
import type { VoiceAgent } from '../voice/voice-agent.ts'

/** A publication for which an agent is requested. */
export interface AgentRequest {
  readonly scope: Scope
  readonly agent_id: string
  readonly version: number
  readonly plan: Plan
}

/** Creates agents from publications. */
export interface AgentFactory {
  /**
   * Resolves with an agent whose services are ready. Throws a `ParleyError` that names the one that is not
   * ("voice_not_ready", "model_not_ready", …).
   */
  create(request: AgentRequest): Promise<VoiceAgent>
}
