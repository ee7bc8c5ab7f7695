/** A piece of a document that belongs together: a paragraph, a list item, a row of a table. */
export interface Block {
  /** Headings above it, the outermost first. */
  readonly headings: readonly string[]
  /** White space is collapsed to single spaces. */
  readonly text: string
}

/** Collects the blocks of a document in their order, each under the headings that precede it. */
export class BlockList {
  readonly blocks: Block[] = []
  #headings: string[] = []

  /** `level`: 1 to 6. A heading ends those of its level and below. */
  heading(level: number, text: string): void {
    const title = collapsed(text)
    if (title === '') return
    this.#headings = [...this.#headings.slice(0, level - 1), title]
  }

  add(text: string): void {
    const body = collapsed(text)
    if (body !== '') this.blocks.push({ headings: this.#headings, text: body })
  }
}

function collapsed(text: string): string {
  return text.replace(/\0/g, '').toWellFormed().replace(/\s+/g, ' ').trim()
}
