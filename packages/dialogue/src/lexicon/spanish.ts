import type { LexiconData } from './lexicon-data.ts'

export const SPANISH: LexiconData = {
  language: 'es',
  dangling: `y e o u pero ni que porque aunque si cuando donde mientras hasta desde de del a al en con sin por para sobre entre
    hacia según durante contra tras ante bajo el la los las un una unos unas lo mi mis tu su sus nuestro nuestra nuestros
    nuestras ese aquel aquella cada algún ningún muy tan se me te le les nos además sino como cuyo cuya cual primer gran`,
  weaklyDangling: `es son era eran fue fueron está están estoy estaba estaban soy somos ser estar hay había tengo tiene tienes
    tenemos tienen quiero quisiera quiere quería queremos necesito necesita necesitaba necesitamos puedo puede podría
    podemos voy va vamos van iba he ha han hemos habría llamo llama gustaría creo pienso espero busco dice dijo dicen
    hacer tener poder debe debo dar ver ir saber decir número nombre esta este eso más menos todo toda todos todas solo
    yo él ella ellos ellas nosotros nosotras ustedes usted otro otra señor señora doctor doctora calle avenida don doña`,
  fillers: `eh; ehh; em; emm; este; esto; mm; mmm; ah; pues; bueno; o sea; es que; digamos; entonces; y entonces; y pues
    así que; a ver; la verdad; cómo se dice; cómo se llama; cómo le digo; por ejemplo; en fin; y bueno; y este`,
  hesitations: `déjame ver; déjeme ver; déjame pensar; déjeme pensar; déjame mirar; déjeme mirar; déjeme buscar; déjame buscar
    un momento; un segundo; un momentito; un segundito; un minuto; espera; espere; espérame; espéreme; permítame; vamos a ver
    deja veo; a ver; dónde está; dónde lo tengo; cómo era; qué más; ahora lo busco; ya lo busco; ahorita lo busco`,
  answers: `sí; si; no; claro; vale; gracias; muchas gracias; por favor; de acuerdo; está bien; correcto; exacto; exactamente
    eso es; así es; perfecto; claro que sí; claro que no; por supuesto; no gracias; sí gracias; sí por favor; nada más
    nada; eso es todo; es todo; eso sería todo; adiós; hola; bueno; buenas; muy bien; bien; ya está; ya; tal vez; quizás; quizá
    no sé; no lo sé; ninguno; ninguna; ninguno de los dos; los dos; las dos; todavía no; aún no; también; yo también; tampoco
    creo que sí; creo que no; me parece bien; hasta luego; chao; ok; okay; adelante; dígame; mande; cómo; qué; quién
    cuándo; dónde; hoy; mañana; ayer; nunca; siempre; perdón; buenos días; buenas tardes; buenas noches; sí claro; no claro
    sí señor; sí señora; no señor; no señora; igualmente; de nada; ajá; sí lo es; sí quiero; sí puedo; no puedo; no quiero`,
  closers: `por favor; gracias; muchas gracias; adiós; nada más; eso es todo; hasta luego; es todo; si es posible; si se puede
    verdad; no; también; ahora mismo; por ahora`,
  questionWords: `qué dónde cuándo quién quiénes cuál cuáles cómo cuánto cuánta cuántos cuántas puede puedes podría podrías tiene
    tienes hay sabe sabes`,
  digits: 'cero uno una dos tres cuatro cinco seis siete ocho nueve',
  numbers: `diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés
    veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve treinta cuarenta cincuenta sesenta setenta
    ochenta noventa cien ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos
    novecientos mil doble triple`,
  numberNames: `número teléfono telefónico móvil celular tarjeta cuenta código postal pasaporte póliza reserva reservación
    confirmación pedido licencia extensión pin referencia rastreo seguimiento documento dni cédula matrícula expediente`,
  spellingNames: 'deletreo deletrea escribe letras letra iniciales deletreado',
  connectors: 'arroba punto guion guión barra subrayado',
  months: 'enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre',
  announcers: 'es son llamo soy',
  dateWords: `lunes martes miércoles jueves viernes sábado domingo hoy mañana mediodía medianoche tarde noche primero`,
  proVerbs: '',
  monthPrepositions: 'en desde hasta de',
  ordinals: 'primero primera segundo segunda tercero tercera último última cualquiera ambos ambas ninguno ninguna',
  backchannels: `sí; ajá; aha; ahá; vale; ya; claro; ok; okay; bien; muy bien; de acuerdo; está bien; entiendo; ya veo
    claro que sí; mm; mmm; mhm; uhum; mm-hmm; mm hmm; exacto; cierto; perfecto; por supuesto; ah; oh; bueno; así es
    eso es; entendido; comprendo; ah ya; ah vale`,
  assents: `sí; ajá; aha; vale; claro; ok; okay; bien; muy bien; de acuerdo; está bien; claro que sí; exacto; cierto; perfecto
    por supuesto; bueno; así es; eso es; mm-hmm; mm hmm; mhm`,
  acceptances: `sí perfecto; sí exacto; sí muy bien; sí está bien; sí de acuerdo; sí así es; sí eso es; sí por supuesto; sí vale
    sí claro que sí; vale perfecto; perfecto sí; ok perfecto`,
  corrections: `no; perdón; perdone; perdona; digo; quiero decir; quise decir; mejor; más bien; mejor dicho; espera; espere; ay no; eh no
    uy no; disculpe; disculpa; me equivoqué; en realidad; bueno no`,
  undecided: 'no sé; no lo sé; no estoy seguro; no estoy segura; ni idea; no tengo idea; buena pregunta',
  stops: `para; pare; espera; espere; espérate; espérese; no; un momento; un segundo; un momentito; un minuto; alto; basta; perdón
    perdona; perdone; disculpe; disculpa; oiga; oye; escucha; escuche; cancela; cancele; no no; silencio; pero; detente
    deténgase; en realidad; cállate; cállese`,
  greetings:
    'hola; aló; diga; dígame; bueno; buenas; buenos días; buenas tardes; buenas noches; hola hola; sí diga; sí dígame; mande',
  agentBackchannels: 'ajá; sí; claro; mm-hmm; ya',
}
