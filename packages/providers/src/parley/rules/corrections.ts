/** Words by which callers take back what they said before, wherever they stand. */
const ANYWHERE = [
  'no,? (?:sorry|wait)',
  '(?:sorry|wait),? no',
  'scratch that,?(?: make (?:it|that))?',
  'make that',
  'or rather',
  'no,? perd[oó]n',
  'perd[oó]n,? (?:no|digo)',
  'mejor dicho',
]
/** Words that take something back only at the beginning of a clause. */
const AT_BREAK = [
  'actually',
  'i mean',
  'i meant',
  'sorry',
  'digo',
  'quiero decir',
  'quise decir',
  'en realidad',
  'perd[oó]n',
]

const CORRECTION = new RegExp(
  `(?:\\s(?:${ANYWHERE.join('|')})|[,.;:!?…–—-]\\s*(?:${[...ANYWHERE, ...AT_BREAK].join('|')}))(?![\\p{L}\\p{N}'’])[\\s,.;:!?…–—-]*`,
  'giu',
)
const HAS_WORDS = /[\p{L}\p{N}]/u
/** A refusal and its apology ("No, sorry, I cannot") take nothing back. */
const APOLOGY = /^[^\p{L}]*(?:sorry|perd[oó]n)[^\p{L}]*$/iu
/** "Uh, I don't know, medium": thinking aloud before the answer. Not "I don't know what it costs". */
const THINKING =
  /^[^\p{L}]*(?:(?:uh|um|er|hm+|eh|em|pues|bueno|well)[\s,.…]+)?(?:no (?:lo )?s[eé]|i don['’]?t know|(?:i['’]?m )?not sure)(?![\p{L}\p{N}'’])[\s,.;…–—-]+(?!(?:if|whether|what|which|when|where|who|why|how|about|yet|si|qu[eé]|cu[aá]l(?:es)?|cu[aá]nd?o|c[oó]mo|d[oó]nde|qui[eé]n|nada|todav[ií]a|a[uú]n)(?![\p{L}]))(?=[\p{L}\p{N}])/iu
const NO_ALONE = /^[^\p{L}]*no[^\p{L}]*$/iu

/**
 * What remains of a turn after the caller corrected it, or thought aloud before it: "Tuesday, no, sorry, Thursday" is "Thursday", "Yes.
 * Actually cancel that" is "cancel that", "Uh, I don't know, medium" is "medium". A turn without a correction, and one with nothing before or after it, is unchanged.
 */
export function corrected(text: string): string {
  let rest = text.replace(THINKING, '')
  for (const match of text.matchAll(CORRECTION)) {
    const after = text.slice(match.index + match[0].length)
    const before = text.slice(0, match.index)
    const isRefusal = APOLOGY.test(match[0]) && NO_ALONE.test(before)
    if (HAS_WORDS.test(before) && HAS_WORDS.test(after) && !isRefusal) rest = after
  }
  return rest
}
