import { type Language, languagesOf } from '@parley/flow'
import { languageOf, type VoiceAgent } from './voice-agent.ts'

type SpeakingAgent = Pick<VoiceAgent, 'plan' | 'voice' | 'fallbackVoices' | 'recogniser' | 'fallbackRecognisers'>

/** The languages of the agent that a voice and a recogniser of it have, that of the beginning first. */
export function callLanguages(agent: SpeakingAgent): readonly Language[] {
  const { voice, fallbackVoices = [], recogniser, fallbackRecognisers = [] } = agent
  const spoken = [voice, ...fallbackVoices.map(choice => choice.voice)].flatMap(({ languages }) => languages)
  const understood = [recogniser, ...fallbackRecognisers].flatMap(({ languages }) => languages)
  const [first] = languagesOf(languageOf(agent))
  const others = languagesOf(agent.plan.settings.language).filter(
    language => spoken.includes(language) && understood.includes(language),
  )
  return [...new Set([first ?? 'en', ...others])]
}

/** The tag of the agent's settings for a language ("es-MX" for "es"); else the language itself. */
export function tagOf({ plan }: Pick<VoiceAgent, 'plan'>, language: Language): string {
  const { language: setting } = plan.settings
  const tags = typeof setting === 'string' ? [setting] : setting
  return tags.find(tag => tag !== 'multi' && languagesOf(tag).includes(language)) ?? language
}
