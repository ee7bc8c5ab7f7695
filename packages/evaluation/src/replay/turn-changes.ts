import type { TimelineItem } from '@parley/conversation'
import type { Ms } from '@parley/kernel'

/** What the agent did in one turn; turn 0 is before the caller's first. */
interface TurnSummary {
  readonly nodes: readonly string[]
  readonly says: readonly string[]
  /** `action_id outcome` */
  readonly actions: readonly string[]
  /** From the end of the caller's words to the first sound of the answer, the longest of the turn; null: not a call, or no answer was heard. */
  readonly latencyMs: Ms | null
}

/** A smaller difference of two latencies is none that a caller notices. */
const NOTICEABLE_MS: Ms = 100

/** A difference between two conversations in one turn. */
export interface TurnChange {
  readonly turn: number
  readonly kind: 'node' | 'speech' | 'action' | 'latency' | 'decision'
  readonly before: string | null
  readonly after: string | null
}

type Summarised = TurnSummary & { nodes: string[]; says: string[]; actions: string[]; latencyMs: Ms | null }

const emptyTurn = (): Summarised => ({ nodes: [], says: [], actions: [], latencyMs: null })

/** What the agent did, by the caller's turns. */
export function turnSummaries(timeline: readonly TimelineItem[]): TurnSummary[] {
  const turns: Summarised[] = [emptyTurn()]
  const latencies = new Map(timeline.flatMap(item => (item.kind === 'turn' ? [[item.index, item.latency.e2e]] : [])))
  for (const item of timeline) {
    const turn = turns.at(-1)!
    if (item.kind === 'utterance' && item.role === 'user') turns.push(emptyTurn())
    else if (item.kind === 'utterance') {
      turn.says.push(item.text)
      const latencyMs = latencies.get(item.index) ?? null
      if (latencyMs !== null) turn.latencyMs = Math.max(latencyMs, turn.latencyMs ?? 0)
    } else if (item.kind === 'node') turn.nodes.push(item.node_id)
    else if (item.kind === 'action' && item.phase !== 'started') turn.actions.push(`${item.action_id} ${item.phase}`)
  }
  return turns
}

/** Answers that come at another time, in the turns before `until`. */
export function latencyChanges(
  before: readonly TurnSummary[],
  after: readonly TurnSummary[],
  until: number,
): TurnChange[] {
  return before.slice(0, until).flatMap(({ latencyMs: one }, turn): TurnChange[] => {
    const other = after[turn]?.latencyMs ?? null
    if (one === null || other === null || Math.abs(one - other) < NOTICEABLE_MS) return []
    return [{ turn, kind: 'latency', before: `${Math.round(one)} ms`, after: `${Math.round(other)} ms` }]
  })
}

const KINDS = { nodes: 'node', says: 'speech', actions: 'action' } as const

/** The differences of one turn. What was said before an interruption is compared as far as it was heard. */
export function changesOfTurn(turn: number, before?: TurnSummary, after?: TurnSummary): TurnChange[] {
  return (['nodes', 'says', 'actions'] as const).flatMap((name): TurnChange[] => {
    const [one, other] = [before?.[name].join(' ') ?? null, after?.[name].join(' ') ?? null]
    const isSame = one === other || (name === 'says' && one !== null && other !== null && isHeardOf(one, other))
    return isSame ? [] : [{ turn, kind: KINDS[name], before: one, after: other }]
  })
}

/** Whether these words are the beginning of what was said. */
function isHeardOf(heard: string, said: string): boolean {
  return heard !== '' && said.startsWith(heard)
}
