import type { Ms } from '@parley/kernel'

/**
 * The border of the turn machine. All times, `now` included, are ms on one monotonic clock; who owns the call puts
 * positions of its sample clock onto it, so that a time here is when the sound was on the line, not when it was noticed.
 */

/** A word that a recogniser heard. */
export interface SpokenWord {
  readonly text: string
  readonly startMs: Ms
  readonly endMs: Ms
}

/** Turn-taking in the node where the conversation is; the flow's `NodeTurnSettings`, as far as turns go. */
export interface TurnSettings {
  /** 0 (the caller never interrupts) to 1. */
  readonly interruptionSensitivity: number
  /** 0 (waits long before it answers) to 1. */
  readonly responsiveness: number
  /** Silence after which the agent reminds; 0: never. */
  readonly reminderTriggerMs: Ms
  readonly reminderMaxCount: number
  /** A digit cuts the agent short. */
  readonly allowDtmfInterruption: boolean
}

/** What holds for the whole call. */
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

/** `adaptive` (default): by what was said and how this caller pauses. `fixed`: that much silence, whatever was said. */
export type Endpointing = { readonly mode: 'adaptive' } | { readonly mode: 'fixed'; readonly silenceMs: Ms }

export type DialogueInput =
  /** Audio flows both ways. Once; everything else waits for it. */
  | { readonly type: 'connected' }
  | { readonly type: 'settings'; readonly settings: TurnSettings }
  /** Voice activity on the speech alone. `startedAt` is the true onset, `stoppedAt` the end of the last speech: both lie a little before `now`. */
  | { readonly type: 'voice-started'; readonly startedAt: Ms }
  | { readonly type: 'voice-stopped'; readonly stoppedAt: Ms; readonly prosody?: Prosody }
  /** All that was understood since the last "final"; replaces the partial before. */
  | { readonly type: 'partial'; readonly text: string; readonly words: readonly SpokenWord[] }
  | {
      readonly type: 'final'
      readonly text: string
      readonly words: readonly SpokenWord[]
      /** The answer to a `finalize`. */
      readonly fromFinalize: boolean
    }
  /** Speech of which no word was understood. */
  | { readonly type: 'unintelligible'; readonly startMs: Ms; readonly endMs: Ms }
  /** The recogniser's own judgement, where it makes one. */
  | { readonly type: 'end-of-turn'; readonly confidence: number; readonly eager: boolean }
  | { readonly type: 'turn-resumed' }
  | { readonly type: 'digit'; readonly digit: string }
  /** The flow takes digits from here on, until told otherwise. */
  | {
      readonly type: 'collect-digits'
      readonly digitLimit: number | null
      readonly terminationKey: string | null
      readonly timeoutMs: Ms
    }
  /** The caller is to open the conversation; after so much silence the agent does. null: wait for ever. */
  | { readonly type: 'await-opening'; readonly afterMs: Ms | null }
  /** The agent can be heard, or is paused in mid-speech: true from its first sample to the last of all that is queued. */
  | { readonly type: 'agent-speaking'; readonly speaking: boolean }
  /** The agent is thinking, an action runs, digits are pressed, a transfer is under way: nobody waits for the caller. */
  | { readonly type: 'agent-busy'; readonly busy: boolean }

/** The end of the caller's last stretch of voice, against the stretch before: how it fell. */
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
  /** What the wait for the next word and the wait for the recogniser's last words took. */
  readonly endpointingMs: Ms
  readonly recogniserMs: Ms
}

export type DialogueOutput =
  /** The agent may begin. `opening`: what the far end said before; it belongs into the transcript and wants no answer of its own. */
  | { readonly type: 'begin'; readonly opening: CallerTurn | null }
  | { readonly type: 'turn'; readonly turn: CallerTurn }
  /** This may be all of the caller's turn: its answer may be begun. A `turn` follows, another candidate, or `goes-on`. */
  | { readonly type: 'candidate'; readonly text: string }
  /** The last candidate was none: the caller goes on. */
  | { readonly type: 'goes-on' }
  /** Digits the caller entered: complete by limit, terminator (not in it) or timeout. */
  | { readonly type: 'digits'; readonly digits: string; readonly atMs: Ms }
  | { readonly type: 'silence'; readonly kind: 'opening' | 'reminder' | 'limit' }
  | { readonly type: 'max-duration' }
  /** Ask the recogniser for what it holds back. */
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
