import type { ActionRunner, CallFacts, EffectLedger, PolicyDecision } from '@parley/conversation'
import type { Endpointing } from '@parley/dialogue'
import type { ModelRef, Plan } from '@parley/flow'
import type { VoiceDetection } from '@parley/media'
import type { LanguageModel, SpeechToText, TextToSpeech } from '@parley/providers'
import type { VoiceChoice } from './utterance-audio.ts'

/** A plan with everything it needs to talk on calls. Made once, used by many calls. */
export interface VoiceAgent {
  readonly plan: Plan
  /** As actions tell it to servers; null: not from a published agent. */
  readonly agentId: string | null
  readonly agentVersion: number | null
  readonly recogniser: SpeechToText
  /** The band in which the caller's voice is looked for; default everything. For lines whose words travel as tones. */
  readonly speechBand?: VoiceDetection['band'] | undefined
  readonly voice: TextToSpeech
  /** A voice of the service; null: its first. */
  readonly voiceId: string | null
  /** Voices that take over in mid-call when that one fails, in this order; default none. */
  readonly fallbackVoices?: readonly VoiceChoice[]
  /** Says sorry when no voice is left; default nobody does. */
  readonly lastResort?: VoiceChoice
  /** The model of a node, or the agent's own for null. */
  readonly model: (ref: ModelRef | null) => LanguageModel
  readonly actions: (ledger: EffectLedger) => ActionRunner
  /** A ledger for one call. */
  readonly ledger: () => EffectLedger
  readonly transferPolicy: (destination: string) => PolicyDecision
  /** The model is asked as soon as the caller has probably finished, and its answer held until that is certain; default true. */
  readonly asksAhead?: boolean
  /** Default adaptive. */
  readonly endpointing?: Endpointing
}

/** What is particular to one call. */
export interface VoiceCallFacts {
  readonly call: CallFacts
  /** What the flow's variables are at first, before its own defaults. */
  readonly variables?: Readonly<Record<string, string>>
  /** What the inbound context returned. */
  readonly context?: Readonly<Record<string, string>>
}

export type { UsageReport } from '@parley/conversation'

/** The language an agent speaks: the first of its own that the voice knows. */
export function languageOf(agent: Pick<VoiceAgent, 'plan' | 'voice'>): string {
  const { language } = agent.plan.settings
  const wanted = typeof language === 'string' ? [language] : language
  const known = wanted.find(tag => agent.voice.languages.includes(primaryTag(tag)))
  return known ?? agent.voice.languages[0] ?? 'en'
}

/** Its voices, in order of preference. */
export function voicesOf(agent: VoiceAgent): VoiceChoice[] {
  const own = { voice: agent.voice, language: languageOf(agent), voiceId: agent.voiceId }
  return [own, ...(agent.fallbackVoices ?? [])]
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
