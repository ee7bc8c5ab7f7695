const SPOKEN: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u2033\u00ab\u00bb]/g, '"'],
  [/\s*[\u2013\u2014]\s*/g, ', '],
  [/\u2026/g, '...'],
  [/\u20ac/g, ' euros '],
  [/\u00a3/g, ' pounds '],
  [/\u00df/g, 'ss'],
  [/[\u00e6\u00c6]/g, 'ae'],
  [/[\u00f8\u00d8]/g, 'o'],
]

/**
 * The text in the ASCII that an English text-to-speech program reads: typographic marks in their plain form, letters without
 * their accents, anything else a blank.
 */
export function plainEnglish(text: string): string {
  let plain = text
  for (const [pattern, replacement] of SPOKEN) plain = plain.replace(pattern, replacement)
  return plain
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e\s]/gu, ' ')
}
