import { randomUUID } from 'node:crypto'
import type { Answer } from '../pipeline/answer.ts'

/**
 * A small answer that goes through the protocol in place of a large one, whose text takes its places in the message that
 * comes out: the protocol parses, copies and writes whatever goes through it, twice.
 */
export class StandIn {
  /** Of one message; nobody can know it before. */
  readonly #text = JSON.stringify({ [randomUUID()]: null })
  #kept: string | null = null

  keep(answer: Answer): Answer {
    this.#kept = answer.text
    return { ...answer, text: this.#text }
  }

  /** The message with what was kept, as text and as structured content; as it is where nothing was kept. */
  giveBack(message: string): string {
    const kept = this.#kept
    if (kept === null) return message
    return message.replace(JSON.stringify(this.#text), () => JSON.stringify(kept)).replace(this.#text, () => kept)
  }
}
