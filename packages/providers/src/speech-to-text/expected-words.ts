const MOST_TERMS = 100
const MOST_TERM_LENGTH = 50

/** Terms to expect, as the services take them: at most 100, each at most 50 characters; the others are left out. */
export function expectedWords(keywords: readonly string[] | undefined): string[] {
  const terms = (keywords ?? []).map(term => term.replace(/\s+/gu, ' ').trim())
  return [...new Set(terms)].filter(term => term !== '' && term.length <= MOST_TERM_LENGTH).slice(0, MOST_TERMS)
}
