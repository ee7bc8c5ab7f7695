import type { EventFrom } from '@parley/client'

export type TimelineItem = EventFrom<'runs.events'>
type ItemOf<Kind extends TimelineItem['kind']> = Extract<TimelineItem, { readonly kind: Kind }>
export type StageLatency = ItemOf<'turn'>['latency']

/** What one side said in one go. Times in ms on the call's clock, whose zero is the start of the recording. */
export interface Turn {
  readonly index: number
  readonly role: 'agent' | 'user'
  readonly text: string
  readonly startMs: number
  readonly endMs: number
  readonly interrupted: boolean
  readonly nodeId: string | null
  /** Of the agent's answer; null: not measured. */
  readonly latency: StageLatency | null
}

/** Something at one moment. */
export interface Mark {
  readonly seq: number
  readonly kind: 'digits' | 'interruption' | 'node' | 'error'
  readonly atMs: number
  readonly label: string
}

/** Something that lasts. */
export interface Span {
  readonly seq: number
  readonly kind: 'action' | 'silence' | 'hold'
  readonly startMs: number
  readonly endMs: number
  readonly label: string
  readonly failed: boolean
}

export interface CallTimeline {
  readonly turns: readonly Turn[]
  readonly marks: readonly Mark[]
  readonly spans: readonly Span[]
  readonly endMs: number
}

/** Both sides silent for at least this long is shown as a silence. */
const SILENCE_MS = 2000

/** The timeline of a run as turns, marks and spans on one time axis. Items before the media began are left out. */
export function callTimeline(items: readonly TimelineItem[]): CallTimeline {
  const turns = turnsOf(items)
  const marks: Mark[] = []
  const spans: Span[] = []
  const open = new Map<string, { readonly seq: number; readonly atMs: number; readonly label: string }>()
  const endMs = items.reduce((end, item) => Math.max(end, item.offset_ms ?? 0, ...endsOf(item)), 0)
  for (const item of items) {
    if (item.offset_ms === null) continue
    const at = { seq: item.seq, atMs: item.offset_ms }
    if (item.kind === 'digits') marks.push({ ...at, kind: 'digits', label: item.digits })
    else if (item.kind === 'interruption' && !item.resumed) marks.push({ ...at, kind: 'interruption', label: '' })
    else if (item.kind === 'node') marks.push({ ...at, kind: 'node', label: item.node_id })
    else if (item.kind === 'error') marks.push({ ...at, kind: 'error', label: item.message })
    else if (item.kind === 'hold') hold(item.held, at, open, spans)
    else if (item.kind === 'action') action(item, at, open, spans)
  }
  for (const [key, { seq, atMs, label }] of open)
    spans.push({ seq, kind: key === 'hold' ? 'hold' : 'action', startMs: atMs, endMs, label, failed: false })
  return { turns, marks, spans: [...spans, ...silencesOf(turns)], endMs }
}

type Open = Map<string, { readonly seq: number; readonly atMs: number; readonly label: string }>
type At = { readonly seq: number; readonly atMs: number }

function hold(held: boolean, at: At, open: Open, spans: Span[]): void {
  const began = open.get('hold')
  if (held) open.set('hold', { ...at, label: '' })
  else if (began !== undefined) {
    open.delete('hold')
    spans.push({ seq: at.seq, kind: 'hold', startMs: began.atMs, endMs: at.atMs, label: '', failed: false })
  }
}

function action(item: ItemOf<'action'>, at: At, open: Open, spans: Span[]): void {
  const began = open.get(item.effect_id)
  if (item.phase === 'started') {
    open.set(item.effect_id, { ...at, label: item.action_id })
    return
  }
  open.delete(item.effect_id)
  const startMs = began?.atMs ?? at.atMs - (item.duration_ms ?? 0)
  const failed = item.phase !== 'succeeded'
  spans.push({ seq: at.seq, kind: 'action', startMs, endMs: at.atMs, label: item.action_id, failed })
}

function endsOf(item: TimelineItem): number[] {
  return item.kind === 'utterance' && item.end_ms !== null ? [item.end_ms] : []
}

/** The turns in the order in which they began. Of an utterance that is written again, the later text counts. */
export function turnsOf(items: readonly TimelineItem[]): readonly Turn[] {
  const latencies = new Map(items.flatMap(item => (item.kind === 'turn' ? [[item.index, item.latency] as const] : [])))
  const turns = new Map<number, Turn>()
  for (const item of items) {
    if (item.kind !== 'utterance') continue
    const startMs = item.start_ms ?? item.offset_ms ?? 0
    turns.set(item.index, {
      index: item.index,
      role: item.role,
      text: item.text,
      startMs,
      endMs: Math.max(startMs, item.end_ms ?? startMs),
      interrupted: item.interrupted,
      nodeId: item.node_id,
      latency: latencies.get(item.index) ?? null,
    })
  }
  return [...turns.values()].sort((a, b) => a.startMs - b.startMs || a.index - b.index)
}

/** The pauses between turns in which neither side spoke. */
function silencesOf(turns: readonly Turn[]): Span[] {
  const silences: Span[] = []
  let quietFrom = Number.POSITIVE_INFINITY
  for (const { startMs, endMs, index } of turns) {
    if (startMs - quietFrom >= SILENCE_MS)
      silences.push({ seq: -1 - index, kind: 'silence', startMs: quietFrom, endMs: startMs, label: '', failed: false })
    quietFrom = quietFrom === Number.POSITIVE_INFINITY ? endMs : Math.max(quietFrom, endMs)
  }
  return silences
}

interface Word {
  readonly text: string
  readonly startMs: number
}

/** The words of a turn with estimated starts: its time is shared out by the lengths of the words. */
export function wordsOf({ text, startMs, endMs }: Pick<Turn, 'text' | 'startMs' | 'endMs'>): readonly Word[] {
  const words = text.split(/\s+/).filter(word => word !== '')
  // A word takes its letters and the gap after it.
  const total = words.reduce((sum, word) => sum + word.length + 1, 0)
  let before = 0
  return words.map(word => {
    const at = startMs + ((endMs - startMs) * before) / Math.max(1, total)
    before += word.length + 1
    return { text: word, startMs: Math.round(at) }
  })
}

/** The index of the turn that is heard at `ms`; null: none. Of two at once, the one that began later. */
export function turnAt(turns: readonly Turn[], ms: number): number | null {
  const heard = turns.filter(turn => turn.startMs <= ms && ms < turn.endMs)
  return heard.at(-1)?.index ?? null
}

/** Steps of an axis: round values in ms, at most `most` of them. */
export function axisSteps(endMs: number, most: number): readonly number[] {
  const sizes = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600].map(seconds => seconds * 1000)
  const size = sizes.find(step => endMs / step <= most) ?? 7_200_000
  return Array.from({ length: Math.floor(endMs / size) + 1 }, (_, index) => index * size)
}
