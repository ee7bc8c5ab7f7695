/** Words for digits in the languages that agents speak. */
const DIGIT_WORDS = `zero oh one two three four five six seven eight nine double triple
  cero uno una dos tres cuatro cinco seis siete ocho nueve doble`.split(/\s+/)
const NUMBER_WORDS =
  `ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy
  eighty ninety hundred diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta
  setenta ochenta noventa`.split(/\s+/)

const WORD = String.raw`(?<![\p{L}\p{N}])(?:${[...DIGIT_WORDS, ...NUMBER_WORDS].join('|')})(?![\p{L}\p{N}])`
const PART = String.raw`(?:[+(]?\d[\d)]*|${WORD})`
/** Digits, in figures or words, with nothing but marks and blanks between them. */
export const DIGIT_RUNS = new RegExp(String.raw`${PART}(?:[\s.,()/-]{0,3}(?:y\s)?${PART})*`, 'giu')

const TENS = new RegExp(`^(?:${NUMBER_WORDS.filter(word => word !== 'hundred').join('|')})$`, 'iu')

/** How many digits a run stands for, at least: a number word counts as two. */
export function digitsIn(run: string): number {
  let count = 0
  let wasTens = false
  for (const [part] of run.matchAll(/\d|\p{L}{2,}/gu)) {
    const isTens = TENS.test(part)
    // "forty two" and "cuarenta y dos" are two digits.
    count += isTens ? 2 : wasTens && !/\d/.test(part) ? 0 : 1
    wasTens = isTens
  }
  return count
}

// Both begin where a run of their characters begins: from each character of a long run, the time would grow with its square.
const WRITTEN_EMAIL = String.raw`(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`
const SPOKEN_EMAIL = String.raw`(?<![\p{L}\p{N}._-])(?:[\p{L}\p{N}._-]+ (?:dot|punto|underscore|dash|guion|guión) ){0,3}[\p{L}\p{N}._-]+ (?:at|arroba) [\p{L}\p{N}-]+(?: (?:dot|punto) [\p{L}]{2,}){1,3}`
export const EMAILS = new RegExp(`${WRITTEN_EMAIL}|${SPOKEN_EMAIL}`, 'giu')

/** Words after which a person's name comes, and the name: up to four words. */
export const NAMED =
  /(?<![\p{L}\p{N}])(?:my (?:full |first |last )?name(?:'s| is)|name is|i am called|i'm called|this is|speaking with|mi nombre(?: completo)? es|me llamo|mi apellido es|a nombre de|le habla|soy)\s+((?:[\p{L}'’.-]+\s*){1,4})/giu

/** A question of the agent for a name, a card, a telephone number. */
export const ASKS_NAME =
  /\b(your|the|full|first|last|family) (name|surname)\b|\bname,? please\b|\bwho (am i|is) (speaking|talking|calling)\b|\b(su|tu) (nombre|apellido)|\bc[oó]mo se llama|\bcon qui[eé]n hablo|\ba nombre de qui[eé]n/i
export const ASKS_CARD = /\bcard\b|\btarjeta\b|\bcvv\b|\bcvc\b|\bsecurity code\b|\bc[oó]digo de seguridad\b|\bexpir/i
export const ASKS_PHONE =
  /\b(phone|telephone|mobile|cell|callback|contact)( number)?\b|\bnumber (can|may|should) (we|i)\b|\btel[eé]fono\b|\bm[oó]vil\b|\bcelular\b/i

/** Names of variables that hold a person's name, such as "name", "first_name", "customerFullName", "nombre_completo". */
export const NAME_VARIABLE =
  /^(?:(?:first|last|full|given|family|middle|customer|caller|client|patient|guest|user|contact|member|person)[_ -]?){0,2}(?:name|surname)$|^(?:nombre|apellidos?)(?:[_ -]?(?:completo|del?[_ -]?(?:cliente|paciente)|cliente|paciente))?$/i

/** Words that are no part of a name although they stand where one does. */
const NO_NAME = new Set(
  `a an the and or but i it is am are was here there not yes no please thanks thank you sorry uh um from for about at in on with to my your
  calling call speaking just new fine good well so very really looking going trying wondering interested sure ready
  y o pero es soy el la los las un una de del por para con que en sí si no gracias favor aquí nuevo nueva muy bien llamo llamando cliente
  appointment booking order pizza day monday tuesday wednesday thursday friday saturday sunday tomorrow today`.split(
    /\s+/,
  ),
)

/** The words of a name at the beginning of a text; empty: there is none. */
export function nameIn(text: string): string[] {
  const words: string[] = []
  for (const [word] of text.matchAll(/[\p{L}'’-]+/gu)) {
    if (NO_NAME.has(word.toLowerCase()) || words.length === 4) break
    words.push(word)
  }
  return words
}
