import type { ActionRunner, CallFacts, EffectLedger, KnowledgeSearcher, PolicyDecision } from '@parley/conversation'
import type { Endpointing } from '@parley/dialogue'
import type { ModelRef, Plan } from '@parley/flow'
import type { AudioFormat } from '@parley/kernel'
import type { VoiceDetection } from '@parley/media'
import {
  type LanguageModel,
  type SpeechStreamOptions,
  type SpeechToText,
  SpokenText,
  type TextToSpeech,
} from '@parley/providers'
import { serviceFormat } from './service-format.ts'
import type { VoiceChoice } from './utterance-audio.ts'

/** A plan with the services that it needs on calls. Created once, used by many calls. */
export interface VoiceAgent {
  readonly plan: Plan
  /** Sent to servers by actions; null: not from a published agent. */
  readonly agentId: string | null
  readonly agentVersion: number | null
  readonly recogniser: SpeechToText
  /** Frequency band of voice activity detection; default: all. For simulated lines, whose words are tones. */
  readonly speechBand?: VoiceDetection['band'] | undefined
  readonly voice: TextToSpeech
  /** Id of a voice of the service; null: its first. */
  readonly voiceId: string | null
  /** Voices that replace a failed one during a call, in this order; default none. */
  readonly fallbackVoices?: readonly VoiceChoice[]
  /** Recognisers that replace a failed one during a call, in this order; default none. */
  readonly fallbackRecognisers?: readonly SpeechToText[]
  /** Models that are asked when another is late or has failed, in this order; default none. */
  readonly fallbackModels?: readonly LanguageModel[]
  /** Holding lines are synthesised before they are needed. Default true. */
  readonly preparesHoldingLines?: boolean
  /** Speaks an apology when no voice or recogniser is left; default: the call ends without one. */
  readonly lastResort?: VoiceChoice
  /** The model of a node; for null the agent's own. */
  readonly model: (ref: ModelRef | null) => LanguageModel
  readonly actions: (ledger: EffectLedger) => ActionRunner
  /** Searches the documents of the agent's environment; default: it answers without documents. */
  readonly knowledge?: KnowledgeSearcher | undefined
  /** Creates the effect ledger of a call. */
  readonly ledger: () => EffectLedger
  readonly transferPolicy: (destination: string) => PolicyDecision
  /** How the call's trunk transfers; default: by REFER, to numbers in E.164. */
  readonly transfers?: TransferRules
  /** Preemptive generation: the model is asked when the caller has probably finished, and the answer held until that is certain. Default true. */
  readonly asksAhead?: boolean
  /** Default adaptive. */
  readonly endpointing?: Endpointing
}

/** Transfers of a trunk. */
export interface TransferRules {
  /** False: the carrier takes no REFER, and a transfer fails at once. */
  readonly refer: boolean
  /** An E.164 number as the carrier expects it. */
  readonly written: (number: string) => string
}

/** Facts about one call. */
export interface VoiceCallFacts {
  readonly call: CallFacts
  /** Initial values of the flow's variables; they take precedence over its defaults. */
  readonly variables?: Readonly<Record<string, string>>
  /** Variables that the inbound context returned. */
  readonly context?: Readonly<Record<string, string>>
}

export type { UsageReport } from '@parley/conversation'

/** The language that an agent speaks: the first of its settings that the voice supports. */
export function languageOf(agent: Pick<VoiceAgent, 'plan' | 'voice'>): string {
  const { language } = agent.plan.settings
  const wanted = typeof language === 'string' ? [language] : language
  const known = wanted.find(tag => agent.voice.languages.includes(primaryTag(tag)))
  return known ?? agent.voice.languages[0] ?? 'en'
}

/** The agent's voices in order of preference. */
export function voicesOf(agent: VoiceAgent): VoiceChoice[] {
  const own = { voice: agent.voice, language: languageOf(agent), voiceId: agent.voiceId }
  return [own, ...(agent.fallbackVoices ?? [])].map(choice => withSpeechSettings(agent.plan, choice))
}

/** A voice with the settings of the plan for the text and the manner of its speech. */
export function withSpeechSettings({ settings }: Plan, choice: VoiceChoice): VoiceChoice {
  const { normalizeForSpeech: normalizes, pronunciationDictionary: pronunciations, voiceTemperature } = settings
  const { language } = choice
  const { writesPhonemes: marks } = choice.voice
  const spokenText = new SpokenText({ language, normalizes, pronunciations, ...(marks && { marks }) })
  return {
    ...choice,
    ...(!spokenText.isIdentity && { spokenText }),
    ...(voiceTemperature !== 1 && { temperature: voiceTemperature }),
  }
}

/** What the plan asks of a recogniser besides words to expect. */
export function recognitionOf({ settings }: Plan): Pick<SpeechStreamOptions, 'mode' | 'vocabulary'> {
  const { sttMode, vocabSpecialization: vocabulary } = settings
  return { mode: sttMode === 'accurate' ? 'accurate' : 'fast', vocabulary }
}

/** Prepares the agent's own voice for a call of this format. */
export function warmVoice(agent: VoiceAgent, format: AudioFormat): void {
  const { voice, voiceId } = agent
  voice.warm?.({
    language: languageOf(agent),
    format: serviceFormat(voice, format),
    ...(voiceId !== null && { voice: voiceId }),
  })
}

/** All languages that the caller may speak, as primary tags. */
export function languagesOf(plan: Plan): string[] {
  const { language } = plan.settings
  const tags = (typeof language === 'string' ? [language] : language).flatMap(tag =>
    tag === 'multi' ? ['en', 'es'] : [primaryTag(tag)],
  )
  return [...new Set(tags)]
}

function primaryTag(tag: string): string {
  return tag.split('-')[0]!.toLowerCase()
}
