/**
 * Cuts a text where a speaker would breathe, so that the first words sound while the rest is still being made:
 * after sentence ends, else after commas, else between words, never longer than `maxCharacters` (a longer word is cut).
 * White space is collapsed; joined by blanks the pieces are the text again.
 */
export function sentences(text: string, maxCharacters: number): string[] {
  const pieces: string[] = []
  for (const sentence of text
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.!?…][)"'»”’]?) /)) {
    let rest = sentence
    while (rest.length > maxCharacters) {
      const cut = cutPoint(rest, maxCharacters)
      pieces.push(rest.slice(0, cut).trim())
      rest = rest.slice(cut).trim()
    }
    if (rest !== '') pieces.push(rest)
  }
  return pieces
}

function cutPoint(text: string, most: number): number {
  const head = text.slice(0, most)
  const comma = Math.max(...[', ', '; ', ': '].map(mark => head.lastIndexOf(mark)))
  if (comma > most / 3) return comma + 1
  const blank = text.lastIndexOf(' ', most)
  if (blank > 0) return blank
  // Not between the halves of a surrogate pair.
  return /[\ud800-\udbff]$/.test(head) ? most - 1 : most
}
