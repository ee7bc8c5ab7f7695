import { describe, expect, it } from 'vitest'
import { SpokenText } from './spoken-text.ts'

function said(text: string, language = 'en'): string {
  const spoken = new SpokenText({ language, normalizes: true, pronunciations: [] })
  return spoken
    .pieces(text)
    .map(piece => piece.spoken)
    .join(' ')
}

describe('normalizeForSpeech in English', () => {
  it.each([
    ['It costs $12.50.', 'It costs twelve dollars and fifty cents.'],
    ['It costs $1,200 today.', 'It costs one thousand two hundred dollars today.'],
    ['€1 or £0.99', 'one euro or ninety-nine pence'],
    ['$3 million', 'three million dollars'],
    ['on 2026-11-23.', 'on November twenty-third, twenty twenty-six.'],
    ['on 11/3/2005', 'on November third, two thousand five'],
    ['May 2nd, 1984', 'May second, nineteen eighty-four'],
    ['Come on Nov. 3 please', 'Come on November third please'],
    ['at 3:30 pm.', 'at three thirty P M'],
    ['at 9:05', 'at nine oh five'],
    ['at 9:00 or 10 a.m. sharp', "at nine o'clock or ten A M sharp"],
    ['Call +1 (415) 555-0100 now', 'Call plus one, four one five, five five five, zero one zero zero now'],
    ['Call 415-555-0100.', 'Call four one five, five five five, zero one zero zero.'],
    ['12.5% off', 'twelve point five percent off'],
    ['the 21st of 3', 'the twenty-first of three'],
    ['since 2019', 'since twenty nineteen'],
    ['1042 of 1,000,000', 'one thousand forty-two of one million'],
    ['code 0042', 'code zero zero four two'],
    ['-5 degrees', 'minus five degrees'],
    ['Dr. Bell, 5 Main St. (Apt. 2)', 'Doctor Bell, five Main Street (apartment two)'],
    ['St. Mary & sons etc.', 'Saint Mary and sons et cetera'],
    ['anna.bell@example.com', 'anna dot bell at example dot com'],
    ['Version v2 of B12', 'Version v2 of B12'],
    ['13/45/2020', '13/45/2020'],
    ['Nothing to change.', 'Nothing to change.'],
  ])('"%s" is said as "%s"', (text, spoken) => expect(said(text)).toBe(spoken))
})

describe('normalizeForSpeech in Spanish', () => {
  it.each([
    ['Son 12,50 €.', 'Son doce euros con cincuenta céntimos.'],
    ['Cuesta $1.200', 'Cuesta mil doscientos dólares'],
    ['21 € y 1 €', 'veintiún euros y un euro'],
    ['el 23/11/2026', 'el veintitrés de noviembre de dos mil veintiséis'],
    ['a las 9:30', 'a las nueve y media'],
    ['a la 1:00', 'a la una en punto'],
    ['Llame al +34 912 345 678', 'Llame al más tres cuatro, nueve uno dos, tres cuatro cinco, seis siete ocho'],
    ['el 15 %', 'el quince por ciento'],
    ['el 2º piso', 'el segundo piso'],
    ['Sr. Gil, c/ Mayor 31', 'señor Gil, calle Mayor treinta y uno'],
    ['Ud. tiene 101 pedidos', 'usted tiene ciento uno pedidos'],
    ['ana@ejemplo.es', 'ana arroba ejemplo punto es'],
  ])('"%s" is said as "%s"', (text, spoken) => expect(said(text, 'es')).toBe(spoken))
})

describe('pronunciationDictionary', () => {
  const pronunciations = [
    { word: 'Parley', alphabet: 'ipa', phoneme: 'ˈpɑːli' },
    { word: 'Nguyen', alphabet: 'cmu', phoneme: 'W IH1 N' },
  ] as const
  const options = { normalizes: false, pronunciations }

  it('a word is respelled for a voice that takes no phonemes', () => {
    const english = new SpokenText({ ...options, language: 'en-US' })
    expect(english.pieces('Welcome to Parley, Mrs Nguyen. Parleys.')).toEqual([
      { written: 'Welcome', spoken: 'Welcome' },
      { written: 'to', spoken: 'to' },
      { written: 'Parley,', spoken: 'pah-lee,' },
      { written: 'Mrs', spoken: 'Mrs' },
      { written: 'Nguyen.', spoken: 'w-ihn.' },
      { written: 'Parleys.', spoken: 'Parleys.' },
    ])
    const spanish = new SpokenText({ ...options, language: 'es' })
    expect(spanish.pieces('Soy Parley')[1]!.spoken).toBe('páli')
  })

  it('a voice that takes phonemes gets them in its own notation', () => {
    const marked = new SpokenText({ ...options, language: 'en', marks: ipa => `<<${ipa}>>` })
    expect(marked.pieces('parley!')).toEqual([{ written: 'parley!', spoken: '<<ˈpɑːli>>!' }])
  })

  it('a word may hold any characters', () => {
    const odd = new SpokenText({
      language: 'en',
      normalizes: false,
      pronunciations: [{ word: 'C++/co-op (x)', alphabet: 'ipa', phoneme: 'siː' }],
    })
    expect(odd.pieces('a C++/co-op (x)')[1]!.spoken).toBe('see')
  })

  it('a text without rules is spoken as it is written', () => {
    expect(new SpokenText({ language: 'de', normalizes: true, pronunciations: [] }).isIdentity).toBe(true)
  })
})

describe('pieces of a spoken text', () => {
  it('the written words of all pieces are the words of the text', () => {
    const text = 'Call  +1 (415) 555-0100 at 3:30 pm, Dr. Bell: $12.50 (or €3).'
    const pieces = new SpokenText({ language: 'en', normalizes: true, pronunciations: [] }).pieces(text)
    expect(
      pieces
        .map(piece => piece.written)
        .join(' ')
        .split(/\s+/),
    ).toEqual(text.split(/\s+/))
  })
})
