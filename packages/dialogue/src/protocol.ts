import type { Ms } from '@parley/kernel'
import type { Question } from './question/question.ts'

/**
 * Inputs and outputs of the turn machine. All times, `now` included, are ms on one monotonic clock. The owner of the call maps
 * sample positions to that clock, so that a time says when the sound was on the line, not when it was detected.
 */

/** A word that a recogniser understood, with its times on the line. */
export interface SpokenWord {
  readonly text: string
  readonly startMs: Ms
  readonly endMs: Ms
}

/** Turn-taking settings of the current node, from the flow's `NodeTurnSettings`. */
export interface TurnSettings {
  /** 0 (the caller never interrupts) to 1. */
  readonly interruptionSensitivity: number
  /** 0 (the agent waits long before it answers) to 1. */
  readonly responsiveness: number
  /** Silence before a reminder of the agent; 0: no reminders. */
  readonly reminderTriggerMs: Ms
  readonly reminderMaxCount: number
  /** A digit interrupts the agent. */
  readonly allowDtmfInterruption: boolean
}

/** Settings of the whole call. */
export interface DialogueOptions {
  /** BCP 47 primary tags of the caller's likely languages, the likeliest first; they select the lexicons. */
  readonly languages: readonly string[]
  readonly settings: TurnSettings
  readonly beginMessageDelayMs: Ms
  /** The agent begins only after the far end has spoken (outbound calls); a far end that stays silent is greeted after `openerPatienceMs`. */
  readonly openerWaitsForCallee: boolean
  /** Default 5000. */
  readonly openerPatienceMs?: Ms
  readonly endCallAfterSilenceMs: Ms
  readonly maxCallDurationMs: Ms
  readonly backchannel: {
    readonly enabled: boolean
    /** Probability of a backchannel in each suitable pause, 0 to 1. */
    readonly frequency: number
    /** Empty: the language's own. */
    readonly words: readonly string[]
  }
  readonly endpointing?: Endpointing
  /** Longest silence that the caller hears while the agent owes an answer; default: not bounded. */
  readonly silenceContractMs?: Ms
}

/** `adaptive` (default): the silence that ends a turn depends on the words and on this caller's pauses. `fixed`: it is `silenceMs`. */
export type Endpointing = { readonly mode: 'adaptive' } | { readonly mode: 'fixed'; readonly silenceMs: Ms }

export type DialogueInput =
  /** Audio flows both ways. Sent once; nothing is reported before it. */
  | { readonly type: 'connected' }
  | { readonly type: 'settings'; readonly settings: TurnSettings }
  /** The caller speaks this language from now on: its lexicon comes first. Primary tag. */
  | { readonly type: 'language'; readonly language: string }
  /** Voice activity. `startedAt`: the onset; `stoppedAt`: the end of the last speech. Both lie a little before `now`. */
  | { readonly type: 'voice-started'; readonly startedAt: Ms }
  | { readonly type: 'voice-stopped'; readonly stoppedAt: Ms; readonly prosody?: Prosody }
  /** All words recognised since the last "final"; replaces the previous partial. */
  | { readonly type: 'partial'; readonly text: string; readonly words: readonly SpokenWord[] }
  | {
      readonly type: 'final'
      readonly text: string
      readonly words: readonly SpokenWord[]
      /** The answer to a `finalize`. */
      readonly fromFinalize: boolean
    }
  /** Speech without a recognised word. */
  | { readonly type: 'unintelligible'; readonly startMs: Ms; readonly endMs: Ms }
  /** The recogniser's own end-of-turn detection, where it has one. `confidence` 0 to 1; `eager`: an early guess. */
  | { readonly type: 'end-of-turn'; readonly confidence: number; readonly eager: boolean }
  | { readonly type: 'turn-resumed' }
  | { readonly type: 'digit'; readonly digit: string }
  /** A question is open from now on, and digits answer it by these rules (see `DigitRules`). Digits of the question before are dropped. */
  | {
      readonly type: 'collect-digits'
      /** Default null: digits belong to no question in particular. */
      readonly question?: number | null
      readonly digitLimit: number | null
      readonly terminationKey: string | null
      readonly timeoutMs: Ms
      /** The digits that the flow waits for; default null: any. */
      readonly answers?: readonly string[] | null
    }
  /** What the caller is asked now, as far as it is known; null: nothing in particular. */
  | { readonly type: 'question'; readonly question: Question | null }
  /** The call is over: digits that no question took are reported. Nothing follows. */
  | { readonly type: 'ended' }
  /** The caller should open the conversation; after `afterMs` of silence the agent does. Null: the agent never does. */
  | { readonly type: 'await-opening'; readonly afterMs: Ms | null }
  /** True from the first sample of the agent's speech to the last that is queued, including pauses. */
  | { readonly type: 'agent-speaking'; readonly speaking: boolean }
  /** The agent does not wait for the caller: it generates an answer, runs an action, sends digits or transfers the call. */
  | {
      readonly type: 'agent-busy'
      readonly busy: boolean
      /** It generates an answer or runs an action, so that it will speak by itself. Default: `busy`. */
      readonly working?: boolean
    }
  /** The agent has words that were not played to their end. */
  | { readonly type: 'agent-pending'; readonly pending: boolean }
  /** Sound of the agent is on the line: speech, a holding line, a backchannel. Ambient sound does not count. */
  | { readonly type: 'agent-sound'; readonly on: boolean }

/** How level and pitch at the end of the caller's last stretch of voice differ from the whole stretch. */
export interface Prosody {
  /** Level of the last 200 ms below the mean of the stretch, dB; negative: it rose. */
  readonly energyFallDb: number
  /** Pitch of the last voiced 200 ms below the median of the stretch, semitones; null: too little was voiced. */
  readonly pitchFallSemitones: number | null
}

/** A turn of the caller. */
export interface CallerTurn {
  /** Blank: speech without words. */
  readonly text: string
  readonly words: readonly SpokenWord[]
  readonly startMs: Ms
  /** End of the last speech in it. */
  readonly endMs: Ms
  /** When its text became final. */
  readonly observedMs: Ms
  /** Time spent waiting for another word, and for the recogniser's answer to `finalize`. */
  readonly endpointingMs: Ms
  readonly recogniserMs: Ms
  /** The words sound as if the caller goes on: the turn was ended by the length of the silence. */
  readonly isUnfinished: boolean
}

export type DialogueOutput =
  /** The agent may begin. `opening`: what the far end said before; it belongs in the transcript and needs no separate answer. */
  | { readonly type: 'begin'; readonly opening: CallerTurn | null }
  | { readonly type: 'turn'; readonly turn: CallerTurn }
  /** The caller said this beside digits that answer the question; it belongs in the transcript and is no turn. */
  | { readonly type: 'aside'; readonly turn: CallerTurn }
  /** After a turn that looked unfinished, until the next turn: the caller has made no sound for 700 ms, or makes one again. */
  | { readonly type: 'turn-settled'; readonly settled: boolean }
  /**
   * The caller went on after a turn that looked unfinished; or, before the agent's answer was heard, corrected a complete one or had
   * begun to go on before its end. New words were recognised, which become the next turn.
   */
  | { readonly type: 'turn-continued' }
  /** The caller's turn may be over with this text: generation of the answer may start. A `turn`, another candidate or `candidate-withdrawn` follows. */
  | { readonly type: 'candidate'; readonly text: string }
  /** The caller goes on: the last candidate does not hold. */
  | { readonly type: 'candidate-withdrawn' }
  /** Digits of the caller, complete by limit, termination key (not included) or timeout. */
  | { readonly type: 'digits'; readonly digits: string; readonly atMs: Ms; readonly question: number | null }
  /** Digits that answer no question: their question was decided otherwise, or the call ended first. */
  | { readonly type: 'unused-digits'; readonly digits: string; readonly atMs: Ms }
  | { readonly type: 'silence'; readonly kind: 'opening' | 'reminder' | 'limit' }
  | { readonly type: 'max-duration' }
  /** The caller has waited for most of the silence contract: say a holding line now. Repeated while nothing is audible. */
  | { readonly type: 'hold' }
  /** The agent owes an answer and neither works nor speaks: make it speak. */
  | { readonly type: 'nudge' }
  /**
   * A bound was exceeded: the caller heard silence for the whole contract (`stage` null: the owner knows what the agent waits for),
   * waited for the end of the turn (`endpointing`), or spoke and the recogniser delivered nothing (`recogniser`).
   */
  | { readonly type: 'breach'; readonly stage: 'endpointing' | 'recogniser' | null; readonly ms: Ms }
  /** Ask the recogniser to deliver its outstanding words as a final. */
  | { readonly type: 'finalize' }
  /** `on`: the caller may be interrupting, so the agent speaks at low volume; otherwise at full volume again. */
  | { readonly type: 'duck'; readonly on: boolean }
  /** Pause the playout; audio that was not played is kept. */
  | { readonly type: 'pause' }
  /** No interruption: resume the playout at the next sample. */
  | { readonly type: 'resume' }
  /** An interruption: drop all audio that was not played, and the rest of the agent's answer. */
  | { readonly type: 'cut' }
  /** Speak a short backchannel while the caller has the turn; it is not part of the transcript. */
  | { readonly type: 'backchannel'; readonly word: string }
