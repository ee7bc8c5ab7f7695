import { languageOf, type VoiceAgent } from './voice-agent.ts'

/** An agent for one call, and the end of what was opened for it. */
interface CallAgent {
  readonly agent: VoiceAgent
  readonly close: () => void
}

/**
 * The agent for one call. A speech-to-speech model replaces recogniser, model and voice with a session of its own; they are the
 * fallback, which takes over for the rest of the call when the session fails.
 */
export function agentOfCall(agent: VoiceAgent): CallAgent {
  const { realtime, plan } = agent
  if (realtime === undefined) return { agent, close: () => {} }
  const { boostedKeywords: keywords, voiceSpeed: speed } = plan.settings
  const session = realtime.open({ language: languageOf(agent), keywords, voice: agent.voiceId, speed })
  return {
    agent: {
      ...agent,
      recogniser: session.recogniser,
      fallbackRecognisers: [agent.recogniser, ...(agent.fallbackRecognisers ?? [])],
      model: ref => (ref === null && !session.isOver ? session.model : agent.model(ref)),
      fallbackModels: [agent.model(null), ...(agent.fallbackModels ?? [])],
      // The session generates one answer at a time, in the conversation as it is.
      asksAhead: false,
    },
    close: () => session.close(),
  }
}
