import type { Ms } from '@parley/kernel'
import type { SpokenWord } from '../protocol.ts'

/**
 * Inputs and outputs of answer detection. All times are ms on the clock of `now`, and say when a sound was on the line.
 */

/** What answered a call. `announcement`: a recording of the network, such as "this number is not in service". */
export type AnswerClass =
  | 'human'
  | 'voicemail'
  /** A mailbox that is full or not set up. */
  | 'mailbox_unavailable'
  | 'ivr'
  /** A program of the phone or the carrier that asks who is calling. */
  | 'screener'
  | 'fax'
  | 'announcement'
  | 'silence'

export type CallTone = 'tone' | 'sit' | 'ringback' | 'fax'

export interface AnswerOptions {
  /** BCP 47 primary tags of the far end's likely languages; they select the phrases. */
  readonly languages: readonly string[]
  /** Without a verdict by then there is none. From the answer. */
  readonly timeoutMs: Ms
}

export type AnswerInput =
  /** The far end answered. What was heard before, the early media, counts only as an announcement. */
  | { readonly type: 'answered' }
  | { readonly type: 'voice-started'; readonly startedAt: Ms }
  | { readonly type: 'voice-stopped'; readonly stoppedAt: Ms }
  | { readonly type: 'partial' | 'final'; readonly text: string; readonly words: readonly SpokenWord[] }
  /** A tone began or ended. `isIsolated`: nothing followed its end at once. `isPure`: it is purer than a vowel. */
  | { readonly type: 'tone-started'; readonly tone: CallTone; readonly hz: number; readonly at: Ms }
  | { readonly type: 'tone-ended'; readonly at: Ms; readonly isIsolated: boolean; readonly isPure: boolean }
  /** The agent is audible. */
  | { readonly type: 'agent-sound'; readonly on: boolean }
  /**
   * Someone else may come to the phone, as after a screener: detection begins again, with a new timeout. What was said since the last
   * `greeting-over` of a screener counts.
   */
  | { readonly type: 'rearm'; readonly timeoutMs: Ms }

export type Evidence =
  | { readonly kind: 'words'; readonly phrases: readonly string[] }
  | { readonly kind: 'short-greeting'; readonly spokenMs: Ms }
  | { readonly kind: 'long-greeting'; readonly spokenMs: Ms }
  | { readonly kind: 'beep'; readonly hz: number }
  | { readonly kind: 'sit' | 'fax-tone' | 'ringback' }
  | { readonly kind: 'no-sound' | 'wordless-voice'; readonly forMs: Ms }

export interface Verdict {
  readonly class: AnswerClass
  /** 0 to 1. */
  readonly confidence: number
  readonly evidence: readonly Evidence[]
}

export type AnswerOutput =
  /** What answered, as far as it is known now; a later verdict replaces it. */
  | { readonly type: 'verdict'; readonly verdict: Verdict }
  /** The timeout passed without a verdict. */
  | { readonly type: 'undecided' }
  /** The greeting of a mailbox is over, so that a message may begin, or a screener waits for an answer. `silence`: no beep came. */
  | { readonly type: 'greeting-over'; readonly cause: 'beep' | 'silence'; readonly at: Ms }
  /** The greeting went on after `greeting-over` by silence; another `greeting-over` follows. */
  | { readonly type: 'greeting-resumed' }

/** Whether what answered is a program or a device: neither a person nor nothing at all. */
export function isMachine(answer: AnswerClass): boolean {
  return answer !== 'human' && answer !== 'silence'
}
