import type { Plan } from '@parley/flow'

/** Languages of the apology and of the instructions for the model. */
export type AgentLanguage = 'en' | 'es'

const APOLOGY: Readonly<Record<AgentLanguage, string>> = {
  en: "I'm sorry, I have a technical problem. Could you say that once more?",
  es: 'Lo siento, tengo un problema técnico. ¿Me lo puede repetir?',
}

/** The first supported language of the plan; English where none is supported. */
export function languageOf({ settings: { language } }: Plan): AgentLanguage {
  for (const locale of typeof language === 'string' ? [language] : language) {
    const [primary] = locale.toLowerCase().split(/[-_]/)
    if (primary === 'en' || primary === 'es') return primary
  }
  return 'en'
}

/** What the agent says when its model has failed. */
export function apology(language: AgentLanguage): string {
  return APOLOGY[language]
}
