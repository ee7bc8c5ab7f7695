const MAX_TERMS = 100
const MAX_TERM_LENGTH = 50

/** Keywords for a service: at most 100, each at most 50 characters; others are left out. */
export function expectedWords(keywords: readonly string[] | undefined): string[] {
  const terms = (keywords ?? []).map(term => term.replace(/\s+/gu, ' ').trim())
  return [...new Set(terms)].filter(term => term !== '' && term.length <= MAX_TERM_LENGTH).slice(0, MAX_TERMS)
}
