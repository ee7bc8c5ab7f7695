import type { Language } from './language.ts'

const MIN_STEM = 3

/** Endings, the longest first; the first that matches is removed. */
const ENDINGS: Readonly<Record<Language, readonly string[]>> = {
  en: ['ations', 'ation', 'ments', 'ment', 'ings', 'ing', 'ies', 'ied', 'ed', 'es', 'e', 'y', 's'],
  es: [
    ...[
      'aciones',
      'uciones',
      'iciones',
      'arselo',
      'arlas',
      'arlos',
      'erlas',
      'erlos',
      'irlas',
      'irlos',
      'acion',
      'ucion',
    ],
    ...['icion', 'iendo', 'ando', 'arla', 'arlo', 'arle', 'erla', 'erlo', 'erle', 'irla', 'irlo', 'irle'],
    ...['arme', 'erme', 'irme', 'arse', 'erse', 'irse', 'adas', 'ados', 'idas', 'idos', 'ada', 'ado', 'ida', 'ido'],
    ...[
      'amos',
      'emos',
      'imos',
      'aron',
      'ieron',
      'aria',
      'eria',
      'iria',
      'ar',
      'er',
      'ir',
      'as',
      'os',
      'es',
      'an',
      'en',
    ],
    ...['a', 'o', 'e', 's'],
  ],
}

/**
 * A folded word without its ending, so that "booking" and "book", or "cancelar" and "cancelo", have equal stems. A
 * heuristic: stems are only for comparison with each other.
 */
export function stemOf(folded: string, language: Language): string {
  const ending = ENDINGS[language].find(end => folded.length - end.length >= MIN_STEM && folded.endsWith(end))
  const stem = ending === undefined ? folded : folded.slice(0, -ending.length)
  const last = stem.at(-1)
  const doubled = stem.length > MIN_STEM && last === stem.at(-2) && !'aeiou'.includes(last ?? '')
  return doubled ? stem.slice(0, -1) : stem
}
