import type { Ms } from '@parley/kernel'
import type { CallerCase } from './cases.ts'
import type { FinishedCall } from './virtual-agent-call.ts'

const LATE_MS: Ms = 1200
/** A step with at most this silence before its words continues the turn of the step before it. */
const LONGEST_PAUSE_INSIDE_MS: Ms = 3000
/** The agent's voice counts from here after the caller's own sound: what is under way before is being interrupted. */
const UNDER_WAY_MS: Ms = 300
/** Shorter sentences, such as "Sorry.", may be said again. */
const REPEATED_WORDS = 4

export interface Verdict {
  readonly cutOff: number
  readonly late: number
  readonly wrongBranches: number
  readonly lostWords: number
  readonly repeated: number
  readonly repliesMs: readonly Ms[]
  readonly findings: readonly string[]
}

/** Judges a call by what the caller heard and by the agent's timeline. */
export function judge(example: CallerCase, call: FinishedCall): Verdict {
  const findings: string[] = []
  const note = (found: readonly string[]) => {
    findings.push(...found)
    return found.length
  }
  const cutOff = note(cutOffs(example, call))
  const late = note(lateReplies(example, call))
  const wrongBranches = note(wrongBranchesOf(example, call))
  const lost = lostWords(example, call)
  const lostCount = lost.length
  if (lostCount > 0) findings.push(`lost words: ${lost.join(' ')}`)
  const repeated = example.mayRepeat === true ? 0 : note(repeatedSentences(call))
  if (call.scriptFailure !== null) findings.push(call.scriptFailure)
  const repliesMs = call.turns.flatMap(turn => (isEndOfTurn(example, turn.step) ? (turn.replyMs ?? []) : []))
  return { cutOff, late, wrongBranches, lostWords: lostCount, repeated, repliesMs: [...new Set(repliesMs)], findings }
}

/** Whether the caller waits for an answer after the step. */
function isEndOfTurn({ caller }: CallerCase, step: number): boolean {
  const next = caller.steps[step + 1]
  if (caller.steps[step]?.hangs_up === true) return false
  return next === undefined || !(continuesTurn(next) || (next.hangs_up && next.says === undefined))
}

function continuesTurn(step: CallerCase['caller']['steps'][number]): boolean {
  const isShort = step.silence_ms !== undefined && step.silence_ms <= LONGEST_PAUSE_INSIDE_MS
  return isShort && (step.says !== undefined || step.presses !== undefined)
}

/** The agent began to speak in a pause inside a turn. */
function cutOffs(example: CallerCase, { turns, segments }: FinishedCall): string[] {
  return turns.flatMap((turn, i) => {
    const next = turns[i + 1]
    if (next === undefined || next.step === turn.step || isEndOfTurn(example, turn.step)) return []
    const cut = segments.find(({ startMs }) => startMs > turn.endMs + 50 && startMs < next.startMs + UNDER_WAY_MS)
    return cut === undefined
      ? []
      : [`cut off ${Math.round(cut.startMs - turn.endMs)} ms into the pause after step ${turn.step + 1}`]
  })
}

function lateReplies(example: CallerCase, { turns }: FinishedCall): string[] {
  return lastActs(turns).flatMap(turn => {
    if (!isEndOfTurn(example, turn.step)) return []
    const replyMs = firstReply(turns.filter(({ step }) => step === turn.step))
    if (replyMs === null) return example.kind === 'silence' ? [] : [`no reply to step ${turn.step + 1}`]
    return replyMs > LATE_MS ? [`reply to step ${turn.step + 1} after ${Math.round(replyMs)} ms`] : []
  })
}

/** The agent answers the first of a step's acts that decides: a key is answered while the words beside it go on. */
function firstReply(acts: FinishedCall['turns']): Ms | null {
  const replies = acts.flatMap(({ replyMs }) => replyMs ?? [])
  return replies.length === 0 ? null : Math.min(...replies)
}

/** Of acts of the same step (words and keys together) the one that ended last. */
function lastActs(turns: FinishedCall['turns']): FinishedCall['turns'] {
  return turns.filter((turn, i) => turns[i + 1]?.step !== turn.step)
}

/** A step whose turn ended at another node than it should. */
function wrongBranchesOf(example: CallerCase, call: FinishedCall): string[] {
  return example.caller.steps.flatMap((step, index) => {
    const lands = step.expect?.lands ?? []
    if (lands.length === 0) return []
    const next = call.turns.find(turn => turn.step > index)
    const node = nodeAt(call, next?.startMs ?? Number.POSITIVE_INFINITY)
    return lands.includes(node) ? [] : [`step ${index + 1} landed at ${node}, not at ${lands.join(' or ')}`]
  })
}

function nodeAt({ report }: FinishedCall, atMs: Ms): string {
  let node = 'none'
  for (const item of report.timeline) if (item.kind === 'node' && (item.offset_ms ?? 0) <= atMs) node = item.node_id
  return node
}

/** The caller's words that are in no utterance of the transcript, in order. */
function lostWords({ caller }: CallerCase, { report, turns }: FinishedCall): string[] {
  const played = new Set(turns.map(turn => turn.step))
  const spoken = caller.steps.flatMap((step, index) => (played.has(index) ? wordsOf(step.says ?? '') : []))
  const heard = report.utterances.flatMap(({ role, text }) => (role === 'user' ? wordsOf(text) : []))
  return unmatched(spoken, heard)
}

/** Words of `spoken` that are not part of its longest common subsequence with `heard`. */
function unmatched(spoken: readonly string[], heard: readonly string[]): string[] {
  const rows = Array.from({ length: spoken.length + 1 }, () => new Array<number>(heard.length + 1).fill(0))
  for (let i = spoken.length - 1; i >= 0; i--)
    for (let j = heard.length - 1; j >= 0; j--)
      rows[i]![j] = spoken[i] === heard[j] ? rows[i + 1]![j + 1]! + 1 : Math.max(rows[i + 1]![j]!, rows[i]![j + 1]!)
  const lost: string[] = []
  for (let i = 0, j = 0; i < spoken.length; ) {
    if (j < heard.length && spoken[i] === heard[j]) {
      i++
      j++
    } else if (j < heard.length && rows[i]![j + 1]! >= rows[i + 1]![j]!) j++
    else lost.push(spoken[i++]!)
  }
  return lost
}

/** Sentences of four words and more that the agent said more than once. */
function repeatedSentences({ report }: FinishedCall): string[] {
  const seen = new Set<string>()
  return report.utterances.flatMap(({ role, text }) => {
    if (role !== 'agent') return []
    return text.split(/(?<=[.?!])\s+/).flatMap(sentence => {
      const key = wordsOf(sentence).join(' ')
      if (key.split(' ').length < REPEATED_WORDS) return []
      if (seen.has(key)) return [`said again: "${sentence}"`]
      seen.add(key)
      return []
    })
  })
}

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
