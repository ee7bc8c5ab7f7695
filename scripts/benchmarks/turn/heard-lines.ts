import { CALLER_LINES } from './script.ts'

/**
 * Tells from the requests to the model which lines of one call were heard in more than one piece. The caller says the lines in turn.
 * A request with the beginning of a line is a piece of it: its turn ended before its last word. Another that is not exactly a line is a
 * piece if a second request for the same line follows, and otherwise a line that was not recognised.
 */
export class HeardLines {
  /** Lines for which the model was asked before their end, or more than once. */
  inTwo = 0
  /** The line that is said next, counted from 0 over all repetitions. */
  #next = 0
  /** Whether the model was asked for a part of that line. */
  #hasPiece = false
  #lastInTwo = -1

  /** `text`: the caller's newest turn in a request to the model. */
  hear(text: string): void {
    const ahead = CALLER_LINES.findIndex((_, i) => text === lineAt(this.#next + i))
    if (ahead >= 0) {
      if (ahead === 0 && this.#hasPiece) this.#count(this.#next)
      this.#next += ahead + 1
      this.#hasPiece = false
    } else if (!this.#hasPiece && this.#next > 0 && belongsTo(text, lineAt(this.#next - 1))) this.#count(this.#next - 1)
    else if (this.#hasPiece) {
      this.#count(this.#next)
      if (!text.endsWith(lastWord(lineAt(this.#next)))) return
      this.#next++
      this.#hasPiece = false
    } else {
      this.#hasPiece = true
      if (lineAt(this.#next).startsWith(text)) this.#count(this.#next)
    }
  }

  #count(line: number): void {
    if (line === this.#lastInTwo) return
    this.#lastInTwo = line
    this.inTwo++
  }
}

function lineAt(index: number): string {
  return CALLER_LINES[index % CALLER_LINES.length]!
}

/** Whether the text is the end of the line, or the line with more. */
function belongsTo(text: string, line: string): boolean {
  return line.endsWith(text) || text.startsWith(line)
}

function lastWord(line: string): string {
  return line.slice(line.lastIndexOf(' ') + 1)
}
