/** What a model of Anthropic's does with requests; what one refuses, another one needs. */
export interface ClaudeTraits {
  /** Takes a temperature. */
  readonly takesTemperature: boolean
  /** Can be told to call a tool; others only take "auto" and "none". */
  readonly canBeForced: boolean
  /**
   * What has to be said for it to begin its answer as soon as it can. "nothing": it does not think unless told to.
   * "low-effort": it cannot be kept from thinking, only from thinking long.
   */
  readonly haste: 'nothing' | 'disabled' | 'between-tools' | 'low-effort'
}

const OF_OTHERS: ClaudeTraits = { takesTemperature: true, canBeForced: true, haste: 'nothing' }
/** A name that tells no generation: nothing that any of them refuses. */
const UNKNOWN: ClaudeTraits = { takesTemperature: false, canBeForced: false, haste: 'nothing' }

/**
 * The traits of a model by its name. Models of other makers behind a service that speaks like Anthropic's are asked as the
 * request says.
 */
export function traitsOf(model: string): ClaudeTraits {
  if (!/claude/i.test(model)) return OF_OTHERS
  const named = /claude-(?<family>[a-z]+)-(?<major>\d{1,2})(?:[-.](?<minor>\d{1,2}))?(?!\d)/i.exec(model)?.groups
  if (named === undefined) return /claude-(?:instant|v?[123])(?!\d)/i.test(model) ? OF_OTHERS : UNKNOWN
  const family = named.family!.toLowerCase()
  const version = Number(named.major) + Number(named.minor ?? 0) / 100
  if (version < 4.07) return OF_OTHERS
  if (version < 5) return { takesTemperature: false, canBeForced: true, haste: 'nothing' }
  return { takesTemperature: false, ...sinceFive(family, version) }
}

function sinceFive(family: string, version: number): Pick<ClaudeTraits, 'canBeForced' | 'haste'> {
  const isFirst = version < 5.05
  if (family === 'haiku' || (isFirst && (family === 'opus' || family === 'sonnet')))
    return { canBeForced: true, haste: 'disabled' }
  return { canBeForced: false, haste: family === 'sonnet' ? 'between-tools' : 'low-effort' }
}
