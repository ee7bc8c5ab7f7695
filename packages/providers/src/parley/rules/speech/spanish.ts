import { after, type Clause, firstQuote, quotedIn, restored, sentence } from './clause.ts'

type Kind =
  | 'ask'
  | 'request'
  | 'say'
  | 'greet'
  | 'bye'
  | 'thank'
  | 'apologise'
  | 'offer'
  | 'welcome'
  | 'introduce'
  | 'wish'

const END = '(?![\\p{L}])'
const verbs = (words: string) => new RegExp(`^(?:${words})${END}`, 'iu')

const VERBS: readonly (readonly [Kind, RegExp])[] = [
  [
    'bye',
    verbs(
      'despídete|despidete|despídase|despidase|despedirse|despide|di adiós|termina la (?:llamada|conversación)|cuelga',
    ),
  ],
  ['greet', verbs('saluda|salude|saludar|salúdale|di hola')],
  ['welcome', verbs('da la bienvenida|dé la bienvenida|dale la bienvenida|dar la bienvenida')],
  ['introduce', verbs('preséntate|presentate|preséntese|presentarse')],
  ['thank', verbs('agradece|agradezca|agradécele|agradecele|agradecer|da las gracias|dale las gracias|dé las gracias')],
  ['apologise', verbs('discúlpate|disculpate|discúlpese|pide (?:perdón|disculpas)|pida (?:perdón|disculpas)')],
  ['wish', verbs('desea|desee|deséale|deseale|desearle')],
  ['offer', verbs('ofrece|ofrezca|ofrécele|ofrecele|ofrecer')],
  [
    'ask',
    verbs(
      'pregunta|pregunte|pregúntale|preguntale|pregúntele|preguntar|preguntarle|averigua|averigüe|comprueba(?= si)|confirma(?= si)|verifica(?= si)',
    ),
  ],
  [
    'request',
    verbs('pide|pida|pídele|pidele|pídale|pedir|pedirle|solicita|solicite|solicítale|solicitar|obtén|obtener|recopila'),
  ],
  [
    'say',
    verbs(
      'di|diga|dile|dígale|decir|decirle|informa|informe|infórmale|informar|explica|explique|explícale|explicar|comunica|comunícale|avisa|avísale|anuncia|menciona|indica|indícale|cuéntale|confirma|confirme|confírmale|confirmar|repite|repita|repítele|repetir|repasa|resume|lee|léele|leer|recuérdale|recuerda(?= al cliente| a la clienta| que)',
    ),
  ],
]

/** Verbs that begin a new instruction within a sentence. */
export const SPLITTING_SPANISH: ReadonlySet<string> = new Set(
  (
    'pregunta pregunte pregúntale pregúntele pide pida pídele di diga dile dígale ofrece ofrezca ofrécele confirma confirme explica explícale ' +
    'informa infórmale despídete despídase agradece agradécele saluda repite desea deséale espera da solicita avisa'
  ).split(' '),
)

const CONNECTIVES =
  /^(?:(?:por favor|y|luego|después|primero|entonces|por último|finalmente|también|ahora|amablemente|brevemente|siempre)[, ]+)+/iu
/** Openings of sentences about behaviour, which are not spoken. */
const GUIDANCE = verbs(
  'si|cuando|mientras|en caso|una vez|hasta|sé|sea|no|nunca|habla|hable|usa|use|utiliza|responde|contesta|ayuda|recuerda|espera|evita|mantén|mantente|escucha|eres|haz|haga|trata|actúa|sigue|busca|asegúrate|el cliente|la clienta|la persona que llama|tu (?:tarea|trabajo|papel)|para',
)
const CALLER = verbs('(?:al cliente|a la clienta|al usuario|a la persona que llama|a quien llama)')
const MANNER = verbs('amablemente|brevemente|educadamente|exactamente|otra vez|de nuevo|claramente|con amabilidad')
const QUESTION_WORD =
  /^(?:(?:a|en|de|para|con|por|hasta|desde) )?(?:qué|cuál|cuáles|cuándo|cómo|dónde|cuánto|cuánta|cuántos|cuántas|quién)(?![\p{L}])/iu

/** The speech for one clause of an instruction; null for a clause about behaviour. */
export function sayInSpanish(clause: Clause): string | null {
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
  const rest = after(addressed, CALLER) ?? addressed
  const quote = firstQuote(rest)
  if (quote >= 0 && !/(?<!\p{L})(?:si|qué|cuál|cómo|por|para)(?!\p{L})/iu.test(rest.slice(0, quote)))
    return quotedIn({ text: rest, quotes })
  const words = restored(rest, quotes, false).replace(/ (?:con el cliente|con la clienta|al cliente)(?=[.,]?$)/i, '')
  const spoken = toUsted(words)
  switch (kind) {
    case 'ask':
    case 'request':
      return ask(kind, spoken.replace(/[.\s]+$/, '').replace(/,? si (?:es necesario|hace falta|procede)$/i, ''))
    case 'say':
      return say(words)
    case 'greet':
      return 'Hola.'
    case 'bye':
      return 'Adiós.'
    case 'thank':
      return sentence(
        /^(?:por|su)(?!\p{L})/iu.test(spoken) ? `gracias ${spoken.replace(/^su /i, 'por su ')}` : 'gracias',
        '.',
      )
    case 'apologise':
      return sentence(/^por(?!\p{L})/iu.test(spoken) ? `lo siento ${spoken.replace(/^por/i, 'por')}` : 'lo siento', '.')
    case 'offer':
      return sentence(`le puedo ofrecer ${spoken}`, '.')
    case 'welcome':
      return sentence(`bienvenido ${spoken}`, '.')
    case 'introduce': {
      const as = after(spoken, /^como(?!\p{L})/iu)
      return as === null ? null : sentence(`soy ${as}`, '.')
    }
    case 'wish':
      return sentence(`que tenga ${after(spoken, /^que tenga(?!\p{L})/iu) ?? spoken}`, '.')
  }
}

function ask(kind: 'ask' | 'request', words: string): string | null {
  const whether = after(words, /^si(?!\p{L})/iu)
  if (whether !== null) return question(after(whether, /^usted(?!\p{L})/iu) ?? whether)
  const requested = after(words, /^:/) ?? words
  if (requested.startsWith('¿')) return sentence(requested, '?')
  if (QUESTION_WORD.test(requested) || (kind === 'ask' && /^(?:que|cual|cuando|como|donde)(?!\p{L})/iu.test(requested)))
    return question(requested.replace(/(?<=\p{L}) usted(?= )/iu, ''))
  const doing = after(requested, /^que(?!\p{L})/iu)
  if (doing !== null) return sentence(`por favor, ${doing}`, '.')
  return question(`me puede decir ${after(requested, /^(?:por|sobre)(?!\p{L})/iu) ?? requested}`)
}

function question(words: string): string | null {
  const requested = sentence(words, '?')
  return requested === null || requested.startsWith('¿') ? requested : `¿${requested}`
}

function say(words: string): string | null {
  const literal = after(words, /^:/)
  if (literal !== null) return sentence(literal, '.')
  const spoken = toUsted(words)
  return sentence(after(spoken, /^(?:de )?que(?!\p{L})/iu) ?? spoken, '.')
}

const WHO = '(?:del cliente|de la clienta|del usuario|de la persona que llama|de quien llama)(?!\\p{L})'

/** Verbs in the second person, which address the agent, and their first person. */
const AGENT: ReadonlyMap<string, string> = new Map(
  'puedes puedo,podrás podré,vas voy,eres soy,estás estoy,tienes tengo,has he,quieres quiero,necesitas necesito,debes debo'
    .split(',')
    .map(pair => pair.split(' ') as [string, string]),
)

/** "el nombre del cliente" becomes "su nombre", "el cliente quiere" "usted quiere", "vas a mirar" "voy a mirar". */
function toUsted(text: string): string {
  return text
    .replace(new RegExp(`(?<!\\p{L})(?:el|la) (\\p{L}+(?: \\p{L}+)?) ${WHO}`, 'giu'), 'su $1')
    .replace(new RegExp(`(?<!\\p{L})(?:los|las) (\\p{L}+(?: \\p{L}+)?) ${WHO}`, 'giu'), 'sus $1')
    .replace(new RegExp(WHO, 'giu'), 'de usted')
    .replace(/(?<!\p{L})(?:al cliente|a la clienta|al usuario)(?!\p{L})/giu, 'a usted')
    .replace(/(?<!\p{L})(?:el cliente|la clienta|el usuario|la persona que llama)(?!\p{L})/giu, 'usted')
    .replace(/\p{L}+/gu, word => AGENT.get(word) ?? word)
}
