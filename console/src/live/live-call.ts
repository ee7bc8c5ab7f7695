import { type StageLatency, type TimelineItem, type Turn, turnsOf } from '../runs/call-timeline.ts'

type StateItem = Extract<TimelineItem, { readonly kind: 'state' }>

/** A call as its events tell it so far. */
interface LiveCall {
  readonly turns: readonly Turn[]
  /** Null: no event has come yet. */
  readonly state: Pick<StateItem, 'state' | 'phone_state'> | null
  /** Of the newest measured answer. */
  readonly latency: StageLatency | null
  /** The node in which the flow is. */
  readonly nodeId: string | null
  readonly keys: string
  /** The action that runs now. */
  readonly action: string | null
}

export function liveCall(items: readonly TimelineItem[]): LiveCall {
  const running = new Map<string, string>()
  let state: LiveCall['state'] = null
  let latency: StageLatency | null = null
  let nodeId: string | null = null
  let keys = ''
  for (const item of items) {
    if (item.kind === 'state') state = { state: item.state, phone_state: item.phone_state }
    else if (item.kind === 'turn') latency = item.latency
    else if (item.kind === 'node') nodeId = item.node_id
    else if (item.kind === 'digits' && item.direction === 'in') keys += item.digits
    else if (item.kind === 'action' && item.phase === 'started') running.set(item.effect_id, item.action_id)
    else if (item.kind === 'action') running.delete(item.effect_id)
  }
  return { turns: turnsOf(items), state, latency, nodeId, keys, action: [...running.values()].at(-1) ?? null }
}

/**
 * Which runs to follow: those followed so far, and before them the live ones that are new, at most `most`. A browser opens six
 * connections to a server, and each followed run holds one.
 */
export function followedRuns(followed: readonly string[], live: readonly string[], most: number): readonly string[] {
  const kept = followed.filter(id => live.includes(id))
  const fresh = live.filter(id => !followed.includes(id))
  const ended = followed.filter(id => !live.includes(id))
  const chosen = new Set([...kept, ...fresh, ...ended].slice(0, most))
  // Runs keep their places.
  return [...fresh.filter(id => chosen.has(id)), ...followed.filter(id => chosen.has(id))]
}
