import type { CallerStep } from '@parley/phone'

/** How often the caller chooses again when its appointment is gone. */
const MORE_CHOICES = 20

/**
 * The script of a caller of the example clinic: interrupts the greeting, keys in a known patient number, chooses a day and
 * a time by voice, and waits until the agent hangs up. When the agent asks for a day once more, the caller chooses again.
 */
export const DEMO_CALLER: readonly CallerStep[] = [
  { type: 'interrupt', afterMs: 1600, by: { type: 'say', text: 'I would like to book an appointment, please.' } },
  { type: 'hear', pattern: /patient number/i },
  { type: 'quiet', forMs: 500 },
  { type: 'press', digits: '1042#' },
  { type: 'hear', pattern: /which day/i },
  { type: 'begin-again', pattern: /which day/i, times: MORE_CHOICES },
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

/** The same script for a phone that is called: it says hello first. */
export const DEMO_PATIENT: readonly CallerStep[] = [
  { type: 'wait', ms: 700 },
  { type: 'say', text: 'Hello?' },
  ...DEMO_CALLER,
]
