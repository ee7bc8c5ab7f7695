import type { CallerStep } from '@parley/phone'

/**
 * The caller's part with the clinic of the examples: interrupts the greeting, keys in a patient number that the clinic
 * knows, chooses by voice, and lets the agent hang up.
 */
export const DEMO_CALLER: readonly CallerStep[] = [
  { type: 'interrupt', afterMs: 1600, by: { type: 'say', text: 'I would like to book an appointment, please.' } },
  { type: 'hear', pattern: /patient number/i },
  { type: 'quiet', forMs: 500 },
  { type: 'press', digits: '1042#' },
  { type: 'hear', pattern: /which day/i },
  { type: 'quiet', forMs: 700 },
  { type: 'say', text: 'The second one, please.' },
  { type: 'hear', pattern: /which time/i },
  { type: 'quiet', forMs: 700 },
  { type: 'say', text: 'The first one.' },
  { type: 'hear', pattern: /shall I book/i },
  { type: 'quiet', forMs: 700 },
  { type: 'say', text: 'Yes, please.' },
  { type: 'hung-up', withinMs: 30_000 },
]

/** The same part for somebody who is called: people say hello first. */
export const DEMO_PATIENT: readonly CallerStep[] = [
  { type: 'wait', ms: 700 },
  { type: 'say', text: 'Hello?' },
  ...DEMO_CALLER,
]
