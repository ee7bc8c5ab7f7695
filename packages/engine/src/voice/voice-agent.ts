import type { ActionRunner, CallFacts, EffectLedger, KnowledgeSearcher, PolicyDecision } from '@parley/conversation'
import type { Endpointing } from '@parley/dialogue'
import { type Language, languagesOf, type ModelRef, type Plan } from '@parley/flow'
import type { AudioFormat } from '@parley/kernel'
import type { VoiceDetection } from '@parley/media'
import {
  type ChatMessage,
  type LanguageModel,
  type RealtimeModel,
  type SpeechStreamOptions,
  type SpeechToText,
  SpokenText,
  type TextToSpeech,
} from '@parley/providers'
import { serviceFormat } from './service-format.ts'
import { spokenForm, type VoiceChoice } from './utterance-audio.ts'

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
  /** Ids of voices of the service for languages that `voiceId` does not speak; null: its first for the language. */
  readonly otherVoiceIds?: Readonly<Partial<Record<Language, string | null>>>
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
  /** Hears and speaks in place of `recogniser`, `model` and `voice`, which remain as its fallback; `voice` also speaks static text. Default none. */
  readonly realtime?: RealtimeModel
  /** The model of a node; for null the agent's own. */
  readonly model: (ref: ModelRef | null) => LanguageModel
  /** Prepares the agent's own model for a call; see {@link LanguageModel.warm}. */
  readonly warmModel?: () => void
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
  /** What was said with the agent before, when this one continues its call. Default: nothing. */
  readonly history?: readonly ChatMessage[]
  /** Variables that the inbound context returned. */
  readonly context?: Readonly<Record<string, string>>
}

export type { UsageReport } from '@parley/conversation'

/** The language that an agent speaks: the first of its settings that the voice supports. */
export function languageOf(agent: Pick<VoiceAgent, 'plan' | 'voice'>): string {
  const { language } = agent.plan.settings
  const tags = typeof language === 'string' ? [language] : language
  const wanted = tags.flatMap(tag => (tag === 'multi' ? languagesOf(tag) : [tag]))
  const known = wanted.find(tag => agent.voice.languages.includes(primaryTag(tag)))
  return known ?? agent.voice.languages[0] ?? 'en'
}

/** The agent's voices in order of preference, those that speak the language (BCP 47) first. */
export function voicesOf(agent: VoiceAgent, language = languageOf(agent)): VoiceChoice[] {
  const { voice, fallbackVoices = [] } = agent
  const isFirst = language === languageOf(agent)
  const own: VoiceChoice = { voice, language, voiceId: isFirst ? agent.voiceId : voiceIdFor(agent, language) }
  const speaks = ({ voice: { languages } }: VoiceChoice) => languages.includes(primaryTag(language))
  const others = fallbackVoices.map(choice =>
    isFirst || !speaks(choice) ? choice : { ...choice, language, voiceId: null },
  )
  const choices = [own, ...others]
  return [...choices.filter(speaks), ...choices.filter(choice => !speaks(choice))].map(choice =>
    withSpeechSettings(agent.plan, choice),
  )
}

function voiceIdFor({ voiceId, otherVoiceIds = {} }: VoiceAgent, language: string): string | null {
  const [known] = languagesOf(language)
  const other = known === undefined ? undefined : otherVoiceIds[known]
  return other === undefined ? voiceId : other
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

/** Prepares the agent's own voice and model for a call of this format. */
export function warmServices(agent: VoiceAgent, format: AudioFormat): void {
  agent.warmModel?.()
  warmVoice(agent, { format: serviceFormat(agent.voice, format) })
}

/** Prepares an agent's own voice. `texts`: as the agent writes them; the voice is asked for them as in a call. */
export function warmVoice(
  agent: Pick<VoiceAgent, 'plan' | 'voice' | 'voiceId'>,
  { format, texts = [] }: { readonly format?: AudioFormat; readonly texts?: readonly string[] },
): void {
  const { plan, voice, voiceId } = agent
  const choice = withSpeechSettings(plan, { voice, voiceId, language: languageOf(agent) })
  voice.warm?.({
    language: choice.language,
    texts: texts.map(text => spokenForm(text, choice)),
    ...(format !== undefined && { format }),
    ...(voiceId !== null && { voice: voiceId }),
  })
}

export function primaryTag(tag: string): string {
  return tag.split('-')[0]!.toLowerCase()
}
