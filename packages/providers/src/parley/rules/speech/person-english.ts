const THIRD_PERSON: Readonly<Record<string, string>> = { is: 'are', has: 'have', was: 'were', does: 'do', goes: 'go' }
/** Words that end in -s and are no verbs in the third person. */
const NO_VERB = new Set(['this', 'as', 'always', 'us', 'its', 'previous', 'perhaps'])
const PREPOSITIONS = new Set(['to', 'for', 'with', 'from', 'of', 'at', 'by', 'about', 'than', 'on', 'after', 'before'])

/** Rephrases a text to address the caller: "the caller's name" becomes "your name", and "you", the agent, becomes "I". */
export function toTheCaller(text: string): string {
  const they = text
    .replace(/\b(?:the|this) (?:caller|customer|user|client)(?:'s|’s)/gi, 'their')
    .replace(/\b(?:the|this) (?:caller|customer|user|client)\b/gi, 'they')
    .replace(/\bhe or she\b|\bhe\/she\b/gi, 'they')
    .replace(/\bhis or her\b|\bhis\/her\b/gi, 'their')
  return agentToI(they.split(' ')).map(toYou).join(' ')
}

function agentToI(words: readonly string[]): string[] {
  return words.map((word, i) => {
    const [bare, tail] = parts(word)
    const before = parts(words[i - 1] ?? '')[0]
    switch (bare.toLowerCase()) {
      case 'you':
        return `${PREPOSITIONS.has(before.toLowerCase()) ? 'me' : 'I'}${tail}`
      case 'are':
        return before.toLowerCase() === 'you' ? `am${tail}` : word
      case "you're":
        return `I am${tail}`
      case "you'll":
        return `I will${tail}`
      case "you've":
        return `I have${tail}`
      case 'your':
        return `my${tail}`
      case 'yourself':
        return `myself${tail}`
      default:
        return word
    }
  })
}

function toYou(word: string, at: number, words: readonly string[]): string {
  const [bare, tail] = parts(word)
  switch (bare.toLowerCase()) {
    case 'they':
    case 'them':
      return `you${tail}`
    case 'their':
      return `your${tail}`
    case 'theirs':
      return `yours${tail}`
    case 'themselves':
    case 'themself':
      return `yourself${tail}`
    case "they're":
      return `you are${tail}`
    case "they'd":
      return `you would${tail}`
    case "they've":
      return `you have${tail}`
    case "they'll":
      return `you will${tail}`
    default:
      return parts(words[at - 1] ?? '')[0].toLowerCase() === 'they' ? baseForm(bare) + tail : word
  }
}

/** The verb form after "you": "want" for "wants". */
function baseForm(verb: string): string {
  const small = verb.toLowerCase()
  if (Object.hasOwn(THIRD_PERSON, small)) return THIRD_PERSON[small]!
  if (NO_VERB.has(small) || !/[a-z]{2}s$/.test(small) || small.endsWith('ss')) return verb
  if (small.endsWith('ies')) return `${verb.slice(0, -3)}y`
  return /(?:sh|ch|x|ss)es$/.test(small) ? verb.slice(0, -2) : verb.slice(0, -1)
}

/** A word and the punctuation after it. */
function parts(word: string): readonly [bare: string, tail: string] {
  const end = /[^\p{L}'’]*$/u.exec(word)?.index ?? word.length
  return [word.slice(0, end).replace('’', "'"), word.slice(end)]
}

const AUXILIARIES = new Set('are were will would can could should have had may must am was is has'.split(' '))

/**
 * The clause as a question: "do you want a table" for "you want a table", "is it correct" for "it is correct". Null for
 * other subjects than you, I, it, this and that, because their end is unknown.
 */
export function asQuestion(clause: string): string | null {
  const [subject, verb, ...rest] = clause.split(' ')
  const pronoun = subject?.toLowerCase()
  if (verb === undefined) return null
  if (pronoun === 'it' || pronoun === 'this' || pronoun === 'that')
    return AUXILIARIES.has(verb.toLowerCase()) ? [verb, pronoun, ...rest].join(' ') : null
  if (pronoun !== 'you' && pronoun !== 'i') return null
  const me = pronoun === 'i' ? 'I' : 'you'
  const small = verb.toLowerCase()
  const owns = small === 'have' && !/(?:ed|en|been|had|done|made|got)$/.test(rest[0] ?? '')
  if (AUXILIARIES.has(small) && !owns) return [small, me, ...rest].join(' ')
  if (/^[a-z]+ed$/.test(small) && small !== 'need') return ['have', me, verb, ...rest].join(' ')
  return ['do', me, verb, ...rest].join(' ')
}
