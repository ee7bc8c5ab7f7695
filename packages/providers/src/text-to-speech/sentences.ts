/**
 * Splits a text into pieces of at most `maxCharacters`, so that the first words can be played while the rest is
 * synthesised: after sentences, else after commas, else between words (a longer word is split). White space is
 * collapsed; the pieces joined by blanks are the text.
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

function cutPoint(text: string, maxLength: number): number {
  const head = text.slice(0, maxLength)
  const comma = Math.max(...[', ', '; ', ': '].map(mark => head.lastIndexOf(mark)))
  if (comma > maxLength / 3) return comma + 1
  const blank = text.lastIndexOf(' ', maxLength)
  if (blank > 0) return blank
  // A surrogate pair is not split.
  return /[\ud800-\udbff]$/.test(head) ? maxLength - 1 : maxLength
}
