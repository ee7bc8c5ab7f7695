/** Which request parameters a Gemini model accepts; models differ. */
export interface GeminiTraits {
  /** Accepts a temperature: models since Gemini 3.5 refuse one. */
  readonly takesTemperature: boolean
  /** `generationConfig.thinkingConfig` with which its answer begins soonest; null: the model does not think. */
  readonly leastThinking: Readonly<Record<string, unknown>> | null
  /** Cannot be kept from thinking. */
  readonly alwaysThinks: boolean
  /** Refuses a call in the conversation without the signature of the thought that led to it. */
  readonly needsSignatures: boolean
}

/** The traits of a model by its name. For a name without a known generation: parameters that no current model refuses. */
export function traitsOf(model: string): GeminiTraits {
  const named = /gemini-(?<version>\d{1,2}(?:\.\d{1,2})?)(?:-(?<family>flash-lite|flash|pro))?/i.exec(model)?.groups
  const version = named === undefined ? Number.POSITIVE_INFINITY : Number(named.version)
  const family = named?.family?.toLowerCase()
  if (version < 2.5) return { takesTemperature: true, leastThinking: null, alwaysThinks: false, needsSignatures: false }
  if (version < 3) {
    const isPro = family === 'pro'
    const leastThinking = { thinkingBudget: isPro ? 128 : 0 }
    return { takesTemperature: true, leastThinking, alwaysThinks: isPro, needsSignatures: false }
  }
  const isMinimal = family === 'flash-lite' || (family === 'flash' && version < 3.7)
  return {
    takesTemperature: version < 3.5,
    leastThinking: { thinkingLevel: isMinimal ? 'minimal' : 'low' },
    alwaysThinks: true,
    needsSignatures: true,
  }
}
