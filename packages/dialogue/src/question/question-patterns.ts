/** How the questions of one language are recognised: expressions for the text in lower case and without accents. */
export interface QuestionPatterns {
  /** Numbers of known length, with the digits that they have. */
  readonly numbers: readonly (readonly [pattern: RegExp, min: number, max: number])[]
  /** "a six-digit code": the first group is the number of digits. */
  readonly countedDigits: RegExp
  readonly digitCounts: Readonly<Record<string, number>>
  /** Numbers of unknown length. */
  readonly number: RegExp
  readonly quantity: RegExp
  readonly date: RegExp
  readonly name: RegExp
  /** Of the names, those that ask for more than a first name. */
  readonly fullName: RegExp
  readonly spelling: RegExp
  /** Postal addresses. */
  readonly address: RegExp
  readonly open: RegExp
  readonly yesNo: RegExp
  /** The word between two choices. */
  readonly or: RegExp
  /** Conditions of edges that tell yes from no. */
  readonly yesNoCondition: RegExp
}

export const ENGLISH_QUESTIONS: QuestionPatterns = {
  numbers: [
    [/\blast (four|4)( digits)?\b/, 4, 4],
    [
      /\b((phone|telephone|cell|mobile|callback|contact) number|number (can|should|may) (i|we) (reach|call)|number to (reach|call))\b/,
      10,
      11,
    ],
    [/\b(zip|postal) ?code\b/, 5, 5],
    [/\bcard number\b/, 15, 16],
    [/\bpin\b/, 4, 4],
  ],
  countedDigits: /\b(three|four|five|six|seven|eight|nine|ten|\d{1,2})[- ]digits?\b/,
  digitCounts: { three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  number:
    /\b(account|order|booking|reference|confirmation|policy|member|membership|case|ticket|tracking|invoice|customer|patient|serial|licen[cs]e|reservation) (number|code|id)\b|\b(your|the) (code|number)\b|\bwhat number\b/,
  quantity: /\bhow (many|much|old|long|far|often)\b/,
  date: /\b(which|what) (day|date|time|month|hour|morning|afternoon|week)\b|\bwhen (would|do|did|is|was|should|can|will|are|does|shall)\b|\bdate of birth\b|\bbirthday\b/,
  name: /\byour (full |first |last |family |middle )?(name|surname)\b|\bname,? please\b|\bwho (am i|is|'s) (speaking|talking|calling)\b|\bwhose name\b|\b(what|which) name\b|\bname (is it|of the)\b/,
  fullName: /\b(full|last|family|first and last) name\b|\bsurname\b/,
  address: /(?<!\be-?mail )(?<!\bweb )\baddress\b|\bwhat street\b/,
  spelling: /\bspell\b|\be-?mail\b|\bletter by letter\b/,
  open: /\bhow (can|may|could) (i|we) (help|assist)\b|\bwhat can (i|we) do\b|\banything else\b|\btell me\b|\bdescribe\b|\bwhy\b|\bwhat (happened|seems|exactly|is (this|it|the (matter|problem|reason)))\b|\bhow (can|could|would) (i|we|you)\b|\bwhat (are|would|do) you\b|\bwhat else\b|\bcould you (tell|explain|repeat|describe|say)\b/,
  yesNo:
    /^(so |and |okay |then |well |great |thanks )*(is|are|do|does|did|can|could|will|would|shall|should|may|have|has|was|were|am|isn't|aren't|don't|may)\b|\b(right|correct|okay|ok|alright)\?$|\bis (that|this) (right|correct|okay|fine)\b/,
  or: /\bor\b/,
  yesNoCondition: /\b(yes|no|confirms?|agrees?|declines?|refuses?|wants?|does not|doesn't)\b/,
}

export const SPANISH_QUESTIONS: QuestionPatterns = {
  numbers: [
    [/\bultim[oa]s (cuatro|4)\b/, 4, 4],
    [
      /\b(numero de (telefono|movil|celular|contacto)|su (telefono|movil|celular)|tu (telefono|movil|celular)|a que numero)\b/,
      9,
      10,
    ],
    [/\bcodigo postal\b/, 5, 5],
    [/\bnumero de (la |su |tu )?tarjeta\b/, 15, 16],
    [/\bpin\b/, 4, 4],
  ],
  countedDigits: /\b(tres|cuatro|cinco|seis|siete|ocho|nueve|diez|\d{1,2}) (digitos|cifras|numeros)\b/,
  digitCounts: { tres: 3, cuatro: 4, cinco: 5, seis: 6, siete: 7, ocho: 8, nueve: 9, diez: 10 },
  number:
    /\bnumero de (?:la |el |su |tu |mi )?(cuenta|pedido|reserva|referencia|poliza|socio|cliente|factura|expediente|seguimiento|documento|caso)\b|\b(su|el|tu) (codigo|numero|dni)\b|\bque numero\b/,
  quantity: /\bcuant[oa]s?\b/,
  date: /\bque (dia|fecha|hora|mes|semana)\b|\bcuando\b|\bfecha de nacimiento\b|\ba que hora\b/,
  name: /\b(su|tu) (nombre|apellido)s?\b|\bcomo (se|te) llama[s]?\b|\bcon quien hablo\b|\bquien (llama|habla)\b|\ba nombre de quien\b|\bque nombre\b/,
  fullName: /\bnombre completo\b|\bapellidos?\b/,
  address: /\bdireccion\b(?! de correo| de e-?mail| electronica)|\bdomicilio\b|\bque calle\b/,
  spelling: /\bdeletre\w*\b|\bcorreo\b|\be-?mail\b|\bdireccion (de e-?mail|electronica)\b|\bletra por letra\b/,
  open: /\ben que (puedo|podemos|le puedo|te puedo)\b|\bque (puedo|podemos) hacer\b|\balgo mas\b|\bcuenteme\b|\bcuentame\b|\bexpli(que|ca)\w*\b|\bpor que\b|\bque (paso|ha pasado|ocurre|sucede|le pasa|necesita|desea|quiere)\b|\bdigame\b|\bdescrib\w+\b/,
  yesNo:
    /^(y |entonces |bien |vale |pues )*(es|son|esta|estan|quiere|quieres|desea|puede|puedo|tiene|le|te|ha|hay|seria|prefiere|confirma|va|necesita)\b|\b(correcto|verdad|cierto|de acuerdo|vale|le parece( bien)?)\?$|\b(es|esta) (correcto|bien)\b/,
  or: /\bo\b/,
  yesNoCondition: /\b(si|no|confirma|acepta|rechaza|quiere)\b/,
}
