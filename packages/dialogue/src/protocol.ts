import type { Ms } from '@parley/kernel'

/**
 * Inputs and outputs of the turn machine. All times, `now` included, are ms on one monotonic clock. The owner of the call maps
 * positions of its sample clock to it, so that a time here is when the sound was on the line, not when it was detected.
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
  /** 0 (waits long before it answers) to 1. */
  readonly responsiveness: number
  /** Silence before a reminder of the agent; 0: no reminders. */
  readonly reminderTriggerMs: Ms
  readonly reminderMaxCount: number
  /** A digit cuts the agent short. */
  readonly allowDtmfInterruption: boolean
}

/** Settings of the whole call. */
export interface DialogueOptions {
  /** BCP 47 primary tags, in order of likelihood: words that hold a turn open, backchannels and stop words are of these. */
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
    /** 0 to 1: how likely at each occasion. */
    readonly frequency: number
    /** Empty: the language's own. */
    readonly words: readonly string[]
  }
  readonly endpointing?: Endpointing
}

/** `adaptive` (default): the silence that ends a turn depends on the words and on this caller's pauses. `fixed`: it is `silenceMs`. */
export type Endpointing = { readonly mode: 'adaptive' } | { readonly mode: 'fixed'; readonly silenceMs: Ms }

export type DialogueInput =
  /** Audio flows both ways. Sent once; nothing is reported before it. */
  | { readonly type: 'connected' }
  | { readonly type: 'settings'; readonly settings: TurnSettings }
  /** Voice activity on the speech alone. `startedAt` is the true onset, `stoppedAt` the end of the last speech: both lie a little before `now`. */
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
  /** Rules for digits from now on (see `DigitRules`). */
  | {
      readonly type: 'collect-digits'
      readonly digitLimit: number | null
      readonly terminationKey: string | null
      readonly timeoutMs: Ms
    }
  /** The caller is to open the conversation; after `afterMs` of silence the agent does. null: never. */
  | { readonly type: 'await-opening'; readonly afterMs: Ms | null }
  /** True from the first sample of the agent's speech to the last of all that is queued, also while it is paused. */
  | { readonly type: 'agent-speaking'; readonly speaking: boolean }
  /** The agent does not wait for the caller: it generates an answer, runs an action, sends digits or transfers the call. */
  | { readonly type: 'agent-busy'; readonly busy: boolean }

/** How the end of the caller's last stretch of voice differs from the rest of it. */
export interface Prosody {
  /** dB of the last 200 ms below the mean of the stretch; negative: it rose. */
  readonly energyFallDb: number
  /** Semitones of the last voiced 200 ms below the median of the stretch; null where too little was voiced. */
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
  /** When its text was final. */
  readonly observedMs: Ms
  /** Time spent waiting for another word, and for the recogniser's answer to `finalize`. */
  readonly endpointingMs: Ms
  readonly recogniserMs: Ms
}

export type DialogueOutput =
  /** The agent may begin. `opening`: what the far end said before; it belongs in the transcript and needs no answer of its own. */
  | { readonly type: 'begin'; readonly opening: CallerTurn | null }
  | { readonly type: 'turn'; readonly turn: CallerTurn }
  /** The caller's turn may be over with this text: generation of the answer may start. A `turn`, another candidate or `goes-on` follows. */
  | { readonly type: 'candidate'; readonly text: string }
  /** The last candidate is withdrawn: the caller goes on. */
  | { readonly type: 'goes-on' }
  /** Digits the caller entered: complete by limit, terminator (not in it) or timeout. */
  | { readonly type: 'digits'; readonly digits: string; readonly atMs: Ms }
  | { readonly type: 'silence'; readonly kind: 'opening' | 'reminder' | 'limit' }
  | { readonly type: 'max-duration' }
  /** Ask the recogniser to deliver its outstanding words as a final. */
  | { readonly type: 'finalize' }
  /** The caller may be interrupting: speak lower, or at full volume again. */
  | { readonly type: 'duck'; readonly on: boolean }
  /** Stop the voice where it is; what was not played stays. */
  | { readonly type: 'pause' }
  /** It was no interruption: go on at the sample that was not yet played. */
  | { readonly type: 'resume' }
  /** It was one: what was not played is dropped, and with it what the agent was about to say. */
  | { readonly type: 'cut' }
  /** A short "uh-huh" while the caller speaks; it is no utterance and no turn. */
  | { readonly type: 'backchannel'; readonly word: string }
