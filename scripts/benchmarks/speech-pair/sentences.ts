import { type Random, randomBelow } from '../../../packages/kernel/src/index.ts'

const VOCABULARY: Readonly<Record<string, string>> = {
  en: `the a and to of in is it you that he was for on are with as his they at be this from have or by one had not but what
all were when we there can an your which their said if do will each about how up out them then she many some so these would
other into has more her two like him see time could no make than first been its who now people my made over did down only
way find use may water long little very after words called just where most know get through back much before go good new
write our used me man too any day same right look think also around another came come work three word must because does part
even place well such here take why things help put years different away again off went old number great tell men say small
every found still between name should home big give air line set own under read last never us left end along while might next
sound below saw something thought both few those always looked show large often together asked house world going want
school important until form food keep children feet land side without boy once animals life enough took sometimes four head
above kind began almost live page got earth need far hand high year mother light parts country father let night following
picture being study second eyes soon times story boys since white days ever paper hard near sentence better best across
during today however sure means knew try told young miles sun ways thing whole hear example heard several change answer room
sea against top turned learn point city play toward five using himself usually`,
  es: `de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin sobre este ya
entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi porque qué sólo han yo hay vez puede
todos así nos ni parte tiene él uno donde bien tiempo mismo ese ahora cada vida otro después te otros aunque esa eso hace otra
gobierno tan durante siempre día tanto ella tres sí dijo sido gran país según menos mundo año antes estado quiero mientras
caso nada hacer general estaba poco estos ciudad agua casa luego hombre manera nuestro mujer trabajo lugar persona forma
camino momento noche mano puerta mesa calle amigo hermano señor niño pequeño grande nuevo primero último mejor cerca lejos
arriba abajo dentro fuera mañana tarde semana mes lunes jueves verano invierno libro papel escuela cocina jardín comida
leche pan fruta verde blanco negro rojo azul cinco siete nueve veinte cien ciento quince creo pienso espero llamo busco
pregunto respondo escribo leo compro vendo abro cierro entro salgo vuelvo corazón razón canción también difícil fácil`,
}

/** `count` sentences of 1 to 12 common words, some with commas, numbers and questions, composed at random. */
export function inventSentences(language: string, count: number, random: Random): string[] {
  const words = VOCABULARY[language]!.split(/\s+/)
  return Array.from({ length: count }, () => {
    const sentence = Array.from({ length: 1 + randomBelow(random, 12) }, (_, i) => {
      const word =
        randomBelow(random, 25) === 0 ? String(randomBelow(random, 2000)) : words[randomBelow(random, words.length)]!
      return i > 2 && randomBelow(random, 7) === 0 ? `${word},` : word
    }).join(' ')
    const end = randomBelow(random, 5) === 0 ? '?' : '.'
    return `${sentence[0]!.toUpperCase()}${sentence.slice(1).replace(/,$/, '')}${end}`
  })
}
