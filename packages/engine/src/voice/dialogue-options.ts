import { languagesOfPlan } from '@parley/conversation'
import type { DialogueOptions, TurnSettings } from '@parley/dialogue'
import type { NodeTurnSettings } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import type { VoiceAgent } from './voice-agent.ts'

const DEFAULT_SILENCE_CONTRACT_MS: Ms = 2000

/** Longest silence that the caller hears while the agent owes an answer. */
export function silenceContractOf({ settings }: VoiceAgent['plan']): Ms {
  return settings.silenceContractMs ?? DEFAULT_SILENCE_CONTRACT_MS
}

/** Options of the turn machine from an agent's settings. */
export function dialogueOptions({ plan, endpointing }: VoiceAgent): DialogueOptions {
  const { settings } = plan
  return {
    languages: languagesOfPlan(plan),
    settings: {
      interruptionSensitivity: settings.interruptionSensitivity,
      responsiveness: settings.responsiveness,
      reminderTriggerMs: settings.reminderTriggerMs,
      reminderMaxCount: settings.reminderMaxCount,
      allowDtmfInterruption: settings.allowDtmfInterruption,
    },
    beginMessageDelayMs: settings.beginMessageDelayMs,
    openerWaitsForCallee: settings.openerWaitsForCallee,
    endCallAfterSilenceMs: settings.endCallAfterSilenceMs,
    maxCallDurationMs: settings.maxCallDurationMs,
    backchannel: {
      enabled: settings.enableBackchannel,
      frequency: settings.backchannelFrequency,
      words: settings.backchannelWords,
    },
    silenceContractMs: silenceContractOf(plan),
    ...(endpointing && { endpointing }),
  }
}

export function turnSettings(settings: NodeTurnSettings): TurnSettings {
  return {
    interruptionSensitivity: settings.interruption_sensitivity,
    responsiveness: settings.responsiveness,
    reminderTriggerMs: settings.reminder_trigger_ms,
    reminderMaxCount: settings.reminder_max_count,
    allowDtmfInterruption: settings.allow_dtmf_interruption,
  }
}
