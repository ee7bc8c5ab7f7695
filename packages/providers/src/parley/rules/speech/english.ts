import { after, type Clause, firstQuote, quotedIn, restored, sentence } from './clause.ts'
import { asQuestion, toTheCaller } from './person-english.ts'

type Kind =
  | 'ask'
  | 'say'
  | 'greet'
  | 'bye'
  | 'thank'
  | 'apologise'
  | 'offer'
  | 'welcome'
  | 'introduce'
  | 'wish'
  | 'invite'

const VERBS: readonly (readonly [Kind, RegExp])[] = [
  [
    'bye',
    /^(?:say (?:goodbye|good bye|bye|farewell)|bid (?:the caller |them )?farewell|end the (?:call|conversation)|close the (?:call|conversation)|hang up)\b/i,
  ],
  ['greet', /^(?:say (?:hello|hi)(?= |\.|,|$)|greet)\b/i],
  ['welcome', /^welcome\b(?= the caller| them| the customer| the user| the client)/i],
  ['introduce', /^introduce yourself\b/i],
  ['thank', /^thank\b(?! you)/i],
  ['apologise', /^apologi[sz]e\b/i],
  ['wish', /^wish\b/i],
  ['invite', /^(?:invite|instruct|encourage)\b/i],
  ['offer', /^offer\b/i],
  [
    'ask',
    /^(?:ask again|ask|request|inquire|enquire|find out|collect|gather|obtain|determine|verify|check (?=whether|if|with)|get (?=the |their ))(?: again)?\b/i,
  ],
  [
    'say',
    /^(?:tell|inform|explain|mention|state|announce|remind|advise|notify|assure|reassure|let (?:the (?:caller|customer|user|client)|them) know|confirm|repeat|read back|read out|read|restate|recap|summari[sz]e|say|give|share|present)\b/i,
  ],
]

/** Verbs that begin a new instruction within a sentence. */
export const SPLITTING_ENGLISH: ReadonlySet<string> = new Set(
  'ask tell say greet thank offer confirm explain inform apologise apologize wish welcome remind repeat invite let mention wait introduce end'.split(
    ' ',
  ),
)

const CONNECTIVES =
  /^(?:(?:please|then|and|first|next|finally|now|also|lastly|after that|afterwards|politely|briefly|warmly|kindly|always|simply|just)[, ]+)+/i
/** Openings of sentences about behaviour, which are not spoken. */
const GUIDANCE =
  /^(?:if|when|unless|once|while|until|after|before|whenever|be|do|don't|don’t|never|keep|speak|use|you|your (?:role|task|job|goal)|remember|make|stay|avoid|only|wait|help|assist|answer|listen|note|respond|ensure|try|act|continue|stop|look|call|transfer|understand|handle|follow|the (?:caller|customer|user|client)|they|this (?:node|step)|talk|let(?! the (?:caller|customer|user|client) know| them know)|for)\b/i
const CALLER = /^(?:the (?:caller|customer|user|client)|them|him|her)(?!['’])\b/i
const MANNER = /^(?:politely|briefly|warmly|kindly|again|clearly|only|exactly|simply|in a friendly way|friendly)\b/i

/** The speech for one clause of an instruction; null for a clause about behaviour. */
export function sayInEnglish(clause: Clause): string | null {
  const text = after(clause.text, CONNECTIVES) ?? clause.text
  if (firstQuote(text) === 0) return quotedIn({ ...clause, text })
  for (const [kind, verb] of VERBS) {
    const rest = after(text, verb)
    if (rest !== null) return speechFor(kind, rest, clause.quotes)
  }
  if (GUIDANCE.test(text)) return null
  return sentence(restored(text, clause.quotes, true), '.')
}

function speechFor(kind: Kind, afterVerb: string, quotes: readonly string[]): string | null {
  const addressed = after(afterVerb, MANNER) ?? afterVerb
  const rest = (after(addressed, CALLER) ?? addressed).replace(
    / (?:with|to|from) the (?:caller|customer|user|client)(?=[.,]?$|:)/i,
    '',
  )
  const quote = firstQuote(rest)
  // The quotation is the speech in "Ask: '…'" and "say exactly '…'", but not in "ask whether they want 'small'".
  if (quote >= 0 && !/\b(?:whether|if|which|what|for|about|how|when|where)\b/i.test(rest.slice(0, quote)))
    return quotedIn({ text: rest, quotes })
  const words = restored(rest, quotes, false)
  const spoken = toTheCaller(words)
  switch (kind) {
    case 'ask':
      return ask(words)
    case 'say':
      return say(words)
    case 'greet':
      return 'Hello!'
    case 'bye':
      return 'Goodbye!'
    case 'thank':
      return sentence(/^for\b/i.test(spoken) ? `thank you ${spoken}` : 'thank you', '.')
    case 'apologise':
      return sentence(/^(?:for|that)\b/i.test(spoken) ? `I am sorry ${spoken}` : 'I am sorry', '.')
    case 'offer':
      return sentence(
        after(spoken, /^to\b/i) === null ? `I can offer you ${spoken}` : `I can ${after(spoken, /^to\b/i)}`,
        '.',
      )
    case 'welcome':
      return sentence(`welcome ${spoken}`, '.')
    case 'introduce':
      return after(spoken, /^as\b/i) === null ? null : sentence(`this is ${after(spoken, /^as\b/i)}`, '.')
    case 'wish':
      return sentence(`have ${spoken}`, '.')
    case 'invite':
      return sentence(`please ${after(spoken, /^to\b/i) ?? spoken}`, '.')
  }
}

function ask(words: string): string | null {
  const bare = words
    .replace(/[.\s]+$/, '')
    .replace(/,? if (?:needed|necessary|required|applicable|possible|relevant)$/i, '')
  const whether = after(bare, /^(?:whether|if)\b/i)
  if (whether !== null) {
    const clause = toTheCaller(whether)
    return sentence(asQuestion(clause) ?? `could you tell me whether ${clause}`, '?')
  }
  const requested = after(bare, /^about\b/i) === null ? bare : `about ${after(bare, /^about\b/i)}`
  const which =
    /^(?:(?:for|at|on|in|to) )?(?:how (?:many|much|long|often|old) ?|what|which|when|where|who|why|how)\b/i.exec(
      requested,
    )
  if (which !== null) return askWhich(requested)
  const doing = after(requested, /^to\b/i)
  if (doing !== null) return sentence(`could you please ${toTheCaller(doing)}`, '?')
  const that = after(requested, /^for\b:?/i) ?? requested.replace(/^:\s*/, '')
  return /\?$/.test(that) ? sentence(that, '?') : sentence(`could you tell me ${toTheCaller(that)}`, '?')
}

/** "which day they want" becomes "which day do you want". */
function askWhich(clause: string): string | null {
  const turned = toTheCaller(clause)
  const last = /^(\S+) (.+) (is|are|was|were)$/i.exec(turned)
  if (last !== null) return sentence(`${last[1]} ${last[3]} ${last[2]}`, '?')
  const subject = / (?:you|I) /.exec(turned)
  if (subject === null)
    return sentence(
      / (?:is|are|suits?|works?|would|can|will)\b/i.test(turned) ? turned : `could you tell me ${turned}`,
      '?',
    )
  const question = asQuestion(turned.slice(subject.index + 1))
  return sentence(`${turned.slice(0, subject.index)} ${question ?? ''}`, '?')
}

function say(words: string): string | null {
  const literal = after(words, /^:/)
  if (literal !== null) return sentence(literal, '.')
  const spoken = toTheCaller(words)
  const doing = after(spoken, /^to\b/i)
  if (doing !== null) return sentence(`please ${doing}`, '.')
  return sentence(after(spoken, /^that\b/i) ?? spoken, '.')
}
