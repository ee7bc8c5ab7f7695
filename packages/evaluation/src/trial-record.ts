import type { EffectRecord, TimelineFact, TimelineItem, UsageReport, Utterance } from '@parley/conversation'
import type { Ms } from '@parley/kernel'
import type { ActionCall, GuardEvent } from './mocked-actions.ts'

/** How the conversation of a trial ended. */
export interface TrialOutcome {
  readonly kind: string
  readonly ended_by: 'caller' | 'agent' | 'system'
  readonly code: string | null
}

/** Something in a trial, and after which turn of the caller; 0: before the first. */
type InTurn<Thing> = Thing & { readonly turn: number }

/** An expectation of a script's step that did not come true. */
export interface MissedStep {
  /** From 1. */
  readonly step: number
  readonly message: string
}

/** What happened in a trial, which assertions judge. */
export interface TrialRecord {
  readonly timeline: readonly TimelineItem[]
  readonly utterances: readonly Utterance[]
  readonly speech: readonly InTurn<{ readonly role: 'agent' | 'user'; readonly text: string }>[]
  readonly nodes: readonly InTurn<{ readonly node_id: string }>[]
  readonly calls: readonly ActionCall[]
  readonly guardEvents: readonly GuardEvent[]
  readonly outcome: TrialOutcome
  /** Values of variables at the end. */
  readonly variable: (name: string) => string | undefined
  /** By step of the script (from 1): the node at which its turn ended. */
  readonly landings: ReadonlyMap<number, string>
  /** What the caller waited for each answer. */
  readonly latenciesMs: readonly Ms[]
  readonly missed: readonly MissedStep[]
  readonly usage: readonly UsageReport[]
  readonly effects: readonly EffectRecord[]
}

/** Collects the facts of a trial under the number of the caller's turn. */
export class TrialNotes {
  readonly timeline: TimelineItem[] = []
  readonly speech: InTurn<{ role: 'agent' | 'user'; text: string }>[] = []
  readonly nodes: InTurn<{ node_id: string }>[] = []
  /** Number of the caller's turns so far. */
  turn = 0
  readonly #at: () => string

  /** `at`: the time now, ISO. */
  constructor(at: () => string) {
    this.#at = at
  }

  get node(): string | null {
    return this.nodes.at(-1)?.node_id ?? null
  }

  add(fact: TimelineFact, offset_ms: Ms | null): void {
    this.timeline.push({ seq: this.timeline.length + 1, at: this.#at(), offset_ms, ...fact })
    if (fact.kind === 'utterance') this.speech.push({ role: fact.role, text: fact.text, turn: this.turn })
    if (fact.kind === 'node') this.nodes.push({ node_id: fact.node_id, turn: this.turn })
  }
}
