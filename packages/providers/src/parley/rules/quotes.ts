const CLOSING: Readonly<Record<string, string>> = { '"': '"', '“': '”', '«': '»', '„': '“', "'": "'", '‘': '’' }
const LETTER = /[\p{L}\p{N}]/u

/**
 * The quoted texts, and the remaining text with `mark` in the place of each. An apostrophe inside a word ("doesn't") and
 * an opening mark that is never closed are no quotation marks.
 */
export function quotesIn(text: string, mark: (quote: number) => string): { quotes: string[]; rest: string } {
  const quotes: string[] = []
  const unclosed = new Set<string>()
  let rest = ''
  for (let at = 0; at < text.length; at++) {
    const closing = LETTER.test(text[at - 1] ?? '') ? undefined : CLOSING[text[at]!]
    const end = closing === undefined || unclosed.has(closing) ? -1 : closingAt(text, at + 1, closing)
    if (end < 0) {
      // Searching for each missing closing mark once keeps the time linear for a text full of opening marks.
      if (closing !== undefined) unclosed.add(closing)
      rest += text[at]
      continue
    }
    rest += mark(quotes.length)
    quotes.push(text.slice(at + 1, end).trim())
    at = end
  }
  return { quotes, rest }
}

function closingAt(text: string, from: number, closing: string): number {
  for (let at = text.indexOf(closing, from); at >= 0; at = text.indexOf(closing, at + 1))
    if (!LETTER.test(text[at + 1] ?? '')) return at
  return -1
}
