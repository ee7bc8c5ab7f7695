import { type Half, halfOf } from './half.ts'

export type Language = 'en' | 'es'

/** A synthetic voice. `identity`: what makes it a voice of its own, whatever its accent; it belongs to one half. */
export interface BenchVoice {
  readonly id: string
  readonly identity: string
  readonly engine: 'espeak-ng' | 'flite' | 'festival' | 'hibari' | 'piper'
  readonly language: Language
  readonly name: string
  /** A child: an adult voice with pitch and formants raised by this factor. */
  readonly shift: number
}

/** Variants of espeak-ng that sound like people; robots, whispers and effects are left out. */
const VARIANTS =
  `Alex Alicia Andrea Andy Annie Denis Diogo Gene Gene2 Henrique Hugo Jacky Lee Marco Mario Michael Mike Nguyen adam
  anika antonio aunty belinda benjamin boris caleb david ed edward edward2 f1 f2 f3 f4 f5 grandma grandpa gustave iven iven2 iven3
  john kaukovalta linda m1 m2 m3 m4 m5 m6 m7 m8 marcelo max michel miguel norbert pablo paul pedro quincy rob robert sandro shelby
  steph steph2 steph3 travis victor zac`.split(/\s+/)
const ACCENTS: Readonly<Record<Language, readonly string[]>> = {
  en: ['en-us', 'en-gb', 'en-gb-x-rp', 'en-gb-scotland', 'en-029'],
  es: ['es', 'es-419'],
}
const FLITE = ['kal', 'awb', 'rms', 'slt']
/** Debian's festvox, and voices that packages of PyPI contain. The speaker slt is one voice whichever engine speaks. */
const OTHERS: readonly Pick<BenchVoice, 'id' | 'identity' | 'engine' | 'name'>[] = [
  { id: 'festival/ked', identity: 'festvox/kdl', engine: 'festival', name: 'voice_ked_diphone' },
  { id: 'festival/slt', identity: 'flite/slt', engine: 'festival', name: 'voice_cmu_us_slt_arctic_hts' },
  { id: 'hibari/heart', identity: 'hibari/heart', engine: 'hibari', name: 'heart' },
  { id: 'piper/joe', identity: 'piper/joe', engine: 'piper', name: 'joe' },
]
/** Voices that children are made of. */
const CHILDREN = ['f2', 'f4', 'Annie', 'anika', 'linda', 'Alicia', 'steph', 'belinda']

export function voicesOf(half: Half, language: Language): BenchVoice[] {
  const accents = ACCENTS[language]
  const espeak = VARIANTS.flatMap((variant, i) => {
    const accent = accents[i % accents.length]!
    const voice = { engine: 'espeak-ng', language, name: `${accent}+${variant}` } as const
    const identity = `espeak-ng/${variant}`
    const adult: BenchVoice = { ...voice, id: `${identity}/${accent}`, identity, shift: 1 }
    return CHILDREN.includes(variant) ? [adult, { ...adult, id: `${adult.id}/child`, shift: 1.22 }] : [adult]
  })
  const flite = FLITE.map(
    (name): BenchVoice => ({
      id: `flite/${name}`,
      identity: `flite/${name}`,
      engine: 'flite',
      language: 'en',
      name,
      shift: 1,
    }),
  )
  const others = OTHERS.map((voice): BenchVoice => ({ ...voice, language: 'en', shift: 1 }))
  return [...espeak, ...(language === 'en' ? [...flite, ...others] : [])].filter(
    voice => halfOf(voice.identity) === half,
  )
}
