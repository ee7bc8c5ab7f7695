import type { TimelineItem } from '@parley/conversation'

/** What the agent did in one turn; turn 0 is before the caller's first. */
interface TurnSummary {
  readonly nodes: readonly string[]
  readonly says: readonly string[]
  /** `action_id outcome` */
  readonly actions: readonly string[]
}

/** A difference between two conversations in one turn. */
export interface TurnChange {
  readonly turn: number
  readonly kind: 'node' | 'speech' | 'action' | 'latency' | 'decision'
  readonly before: string | null
  readonly after: string | null
}

type Summarised = TurnSummary & { nodes: string[]; says: string[]; actions: string[] }

/** What the agent did, by the caller's turns. */
export function turnSummaries(timeline: readonly TimelineItem[]): TurnSummary[] {
  const turns: Summarised[] = [{ nodes: [], says: [], actions: [] }]
  for (const item of timeline) {
    const turn = turns.at(-1)!
    if (item.kind === 'utterance' && item.role === 'user') turns.push({ nodes: [], says: [], actions: [] })
    else if (item.kind === 'utterance') turn.says.push(item.text)
    else if (item.kind === 'node') turn.nodes.push(item.node_id)
    else if (item.kind === 'action' && item.phase !== 'started') turn.actions.push(`${item.action_id} ${item.phase}`)
  }
  return turns
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
