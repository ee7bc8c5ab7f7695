/** Which request parameters a model of Anthropic accepts; models differ. */
export interface ClaudeTraits {
  /** Accepts a temperature. */
  readonly takesTemperature: boolean
  /** Guarantees the arguments of strict tools: Claude 4.5 and later. */
  readonly takesStrictTools?: boolean
  /** Can be forced to call a tool; others accept only "auto" and "none". */
  readonly canBeForced: boolean
  /**
   * The parameter with which its answer begins soonest. "nothing": it thinks only on request. "low-effort": thinking
   * cannot be turned off, only shortened.
   */
  readonly haste: 'nothing' | 'disabled' | 'between-tools' | 'low-effort'
}

const OF_OTHERS: ClaudeTraits = { takesTemperature: true, canBeForced: true, haste: 'nothing' }
/** For names without a known generation: parameters that no model refuses. */
const UNKNOWN: ClaudeTraits = { takesTemperature: false, canBeForced: false, haste: 'nothing' }

/**
 * The traits of a model by its name. Requests to models of other vendors behind a compatible service are passed on
 * unchanged.
 */
export function traitsOf(model: string): ClaudeTraits {
  if (!/claude/i.test(model)) return OF_OTHERS
  const named = /claude-(?<family>[a-z]+)-(?<major>\d{1,2})(?:[-.](?<minor>\d{1,2}))?(?!\d)/i.exec(model)?.groups
  if (named === undefined) return /claude-(?:instant|v?[123])(?!\d)/i.test(model) ? OF_OTHERS : UNKNOWN
  const family = named.family!.toLowerCase()
  const version = Number(named.major) + Number(named.minor ?? 0) / 100
  if (version < 4.05) return OF_OTHERS
  if (version < 4.07) return { ...OF_OTHERS, takesStrictTools: true }
  if (version < 5) return { takesTemperature: false, takesStrictTools: true, canBeForced: true, haste: 'nothing' }
  return { takesTemperature: false, takesStrictTools: true, ...sinceFive(family, version) }
}

function sinceFive(family: string, version: number): Pick<ClaudeTraits, 'canBeForced' | 'haste'> {
  const isFirst = version < 5.05
  if (family === 'haiku' || (isFirst && (family === 'opus' || family === 'sonnet')))
    return { canBeForced: true, haste: 'disabled' }
  return { canBeForced: false, haste: family === 'sonnet' ? 'between-tools' : 'low-effort' }
}
