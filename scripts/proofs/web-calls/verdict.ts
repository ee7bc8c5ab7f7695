import type { BrowserMeasures } from './messages.ts'

const PACKETS_PER_S = 50
/** Least share of a call's packets that must arrive. */
const WHOLE_SHARE = 0.95

type Measured = Pick<BrowserMeasures, 'connected' | 'fewest_packets' | 'most_missing' | 'fewest_turns'>

/** What is broken among `count` web calls that were measured for `seconds`; empty: nothing. */
export function faultsOf(
  { connected, fewest_packets, most_missing, fewest_turns }: Measured,
  { count, seconds }: { readonly count: number; readonly seconds: number },
): readonly string[] {
  const most = (1 - WHOLE_SHARE) * seconds * PACKETS_PER_S
  return [
    ...(connected === count ? [] : [`${connected} of ${count} web calls are connected`]),
    ...(fewest_packets > 0 ? [] : ['a web call received no packets']),
    ...(most_missing <= most ? [] : [`a web call lost ${most_missing} packets`]),
    ...(fewest_turns > 0 ? [] : ['a web call has no turn of its caller']),
  ]
}

interface AfterKill {
  /** `state/outcome kind` of each web run. */
  readonly outcomes: readonly string[]
  /** Outcome kinds of the phone calls that have ended. */
  readonly kinds: readonly (string | null)[]
  /** Phone calls that had a second without packets. */
  readonly interrupted: number
  /** Why web calls ended before the process was killed, one detail each. */
  readonly early: readonly string[]
}

/** What is wrong after the process of peer connections was killed; empty: web calls ended honestly and phone calls were unharmed. */
export function faultsOfKill(
  { outcomes, kinds, interrupted, early }: AfterKill,
  calls: { readonly web: number; readonly phone: number },
): readonly string[] {
  const honest = outcomes.filter(outcome => outcome === 'failed/error').length
  const unharmed = kinds.filter(kind => kind === 'caller_hung_up').length
  return [
    ...(honest === calls.web ? [] : [`${honest} of ${calls.web} web calls failed with an error`]),
    ...(unharmed === calls.phone
      ? []
      : [`${unharmed} of ${calls.phone} phone calls went on to their end: ${kinds.join(', ')}`]),
    ...(early.length === 0
      ? []
      : [`${early.length} web calls ended before the kill: ${[...new Set(early)].join('; ')}`]),
    ...(interrupted === 0 ? [] : [`${interrupted} phone calls had a second without packets`]),
  ]
}
