import { type Language, languagesOf, type Plan } from '@parley/flow'

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

const TEXTS: Readonly<Record<Language, FixedTexts>> = {
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

/** The languages of the plan, the one of the beginning first; English where none is supported. */
export function languagesOfPlan({ settings: { language } }: Plan): readonly Language[] {
  const languages = languagesOf(language)
  return languages.length > 0 ? languages : ['en']
}

const HOLDING_LINES: Readonly<Record<Language, readonly string[]>> = {
  en: ['One moment, please.', 'I am still working on it.', 'Thank you for waiting, just a moment more.'],
  es: ['Un momento, por favor.', 'Sigo en ello.', 'Gracias por esperar, un momento más.'],
}

/** What the agent says while the caller waits, in turns. At least one line. */
export function holdingLines(plan: Plan, language: Language): readonly string[] {
  const own = plan.settings.holdingLines ?? []
  return own.length > 0 ? own : HOLDING_LINES[language]
}

/** What the agent says in its own name. */
export function fixedTexts(language: Language): FixedTexts {
  return TEXTS[language]
}
