/** Words of an agent that has not understood the caller. */
const APOLOGY =
  /\b(sorry|apolog|did(n['’]t| not) (get|catch|understand|hear)|perd[oó]n|disculp|lo siento|no (le |te |lo )?(he )?(entend|entiend|o[ií]))/i

/** The text of one reply while it is generated. */
export interface ReplyGate {
  /** Returns the text that may be spoken now. */
  push(delta: string): string
  /**
   * The reply is complete. Returns the rest of its text; or how many times the same apology was generated before, in which case
   * none of its text was spoken.
   */
  end(): string | number
}

/**
 * Notices that a model apologises with the same words again. The text of a reply is held back while it is equal to the last
 * apology, so that other words can be spoken in its place.
 */
export class RepeatedApology {
  #last = ''
  #times = 0

  /** The conversation has moved on. */
  reset(): void {
    this.#last = ''
    this.#times = 0
  }

  reply(): ReplyGate {
    const last = this.#last
    let text = ''
    let isHeld = last !== ''
    return {
      push: delta => {
        text += delta
        if (!isHeld) return delta
        if (last.startsWith(normalised(text))) return ''
        isHeld = false
        return text
      },
      end: () => {
        const own = normalised(text)
        if (isHeld && own !== '' && own === last) return ++this.#times
        const isApology = APOLOGY.test(text)
        this.#last = isApology ? own : own === '' ? last : ''
        if (!isApology && own !== '') this.#times = 0
        return isHeld ? text : ''
      },
    }
  }
}

function normalised(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trimStart()
}
