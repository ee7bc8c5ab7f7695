/** Builders of script steps, so that a case reads as a conversation. */
interface Rest {
  /** Words of the answer, for which the caller waits before it goes on. */
  readonly hears?: string
  readonly [field: string]: unknown
}

/** Waits for an answer and 700 ms of silence, says the words, and is then at one of the nodes. */
export function say(says: string, lands: string | readonly string[], { hears, ...rest }: Rest = {}): object {
  return { says, pause_before_ms: 700, expect: expectation(lands, hears), ...rest }
}

export function press(presses: string, lands: string | readonly string[], { hears, ...rest }: Rest = {}): object {
  return { presses, pause_before_ms: 700, expect: expectation(lands, hears), ...rest }
}

/** The beginning of a turn that goes on after a pause. */
export function begin(says: string, rest: Rest = {}): object {
  return { says, pause_before_ms: 700, ...rest }
}

/** The rest of a turn, after a pause inside it. */
export function after(
  silence_ms: number,
  says: string,
  lands: string | readonly string[] = [],
  { hears, ...rest }: Rest = {},
): object {
  return { silence_ms, says, expect: expectation(lands, hears), ...rest }
}

/** Says or presses something when the agent's answer has lasted `interrupt_at_ms`. */
export function interrupt(
  interrupt_at_ms: number,
  act: object,
  lands: string | readonly string[],
  hears?: string,
): object {
  return { interrupt_at_ms, ...act, expect: expectation(lands, hears) }
}

/** The last words, after which the agent hangs up. */
export function last(says: string, lands: string | readonly string[]): object {
  return { says, pause_before_ms: 700, expect: { ...expectation(lands, undefined), hung_up: true } }
}

function expectation(lands: string | readonly string[], hears: string | undefined): object {
  return { lands: typeof lands === 'string' ? [lands] : lands, hears: hears === undefined ? [] : [hears] }
}
