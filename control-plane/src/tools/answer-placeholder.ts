import { randomUUID } from 'node:crypto'
import type { Answer } from '../pipeline/answer.ts'

/**
 * Passes a small placeholder through the MCP server instead of a large answer, then replaces it in the resulting message:
 * the MCP server would parse, copy and serialise the large answer twice.
 */
export class AnswerPlaceholder {
  /** Random, so that no message can contain it by chance or intent. */
  readonly #text = JSON.stringify({ [randomUUID()]: null })
  #original: string | null = null

  substitute(answer: Answer): Answer {
    this.#original = answer.text
    return { ...answer, text: this.#text }
  }

  /** The message with the original answer as text and as structured content; unchanged when nothing was substituted. */
  restore(message: string): string {
    const original = this.#original
    if (original === null) return message
    return message
      .replace(JSON.stringify(this.#text), () => JSON.stringify(original))
      .replace(this.#text, () => original)
  }
}
