import type { Plan } from '@parley/flow'

/** Languages of the fixed texts and of the instructions for the model. */
export type AgentLanguage = 'en' | 'es'

/** What the agent says in its own name, without a model. */
interface FixedTexts {
  /** The model has failed. */
  readonly apology: string
  /** It has failed again. */
  readonly secondApology: string
  /** The caller was silent until the end of the call. */
  readonly silenceFarewell: string
  /** The call ends because of an error. */
  readonly errorFarewell: string
  /** In place of an apology that the model repeats word for word. */
  readonly otherWords: string
  readonly fewWords: string
  readonly keys: string
  readonly noProgressFarewell: string
}

const TEXTS: Readonly<Record<AgentLanguage, FixedTexts>> = {
  en: {
    apology: "I'm sorry, I have a technical problem. Could you say that once more?",
    secondApology: 'I am afraid it is still not working. Please try it one last time.',
    silenceFarewell: 'I cannot hear anybody, so I will end the call now. Goodbye.',
    errorFarewell: 'I am sorry, I cannot go on because of a technical problem. Please call again later. Goodbye.',
    otherWords: 'I still did not understand. Could you say it in other words?',
    fewWords: 'Let us try it once more: please say it in one or two words.',
    keys: 'Let us try it another way: please use the keys of your phone.',
    noProgressFarewell: 'I am sorry that I could not help you. Please call again later. Goodbye.',
  },
  es: {
    apology: 'Lo siento, tengo un problema técnico. ¿Me lo puede repetir?',
    secondApology: 'Me temo que sigue sin funcionar. Inténtelo una última vez, por favor.',
    silenceFarewell: 'No oigo a nadie, así que voy a terminar la llamada. Adiós.',
    errorFarewell: 'Lo siento, no puedo continuar por un problema técnico. Por favor, llame más tarde. Adiós.',
    otherWords: 'Sigo sin entenderlo. ¿Puede decirlo con otras palabras?',
    fewWords: 'Probemos una vez más: dígalo en una o dos palabras, por favor.',
    keys: 'Probemos de otra manera: use las teclas de su teléfono, por favor.',
    noProgressFarewell: 'Siento no haber podido ayudarle. Por favor, llame más tarde. Adiós.',
  },
}

/** The first supported language of the plan; English where none is supported. */
export function languageOf({ settings: { language } }: Plan): AgentLanguage {
  for (const locale of typeof language === 'string' ? [language] : language) {
    const [primary] = locale.toLowerCase().split(/[-_]/)
    if (primary === 'en' || primary === 'es') return primary
  }
  return 'en'
}

const HOLDING_LINES: Readonly<Record<AgentLanguage, readonly string[]>> = {
  en: ['One moment, please.', 'I am still working on it.', 'Thank you for waiting, just a moment more.'],
  es: ['Un momento, por favor.', 'Sigo en ello.', 'Gracias por esperar, un momento más.'],
}

/** What the agent says while the caller waits, in turns. At least one line. */
export function holdingLines(plan: Plan): readonly string[] {
  const own = plan.settings.holdingLines ?? []
  return own.length > 0 ? own : HOLDING_LINES[languageOf(plan)]
}

/** What the agent says in its own name. */
export function fixedTexts(plan: Plan): FixedTexts {
  return TEXTS[languageOf(plan)]
}
