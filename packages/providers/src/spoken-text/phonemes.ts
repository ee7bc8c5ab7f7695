/** A pronunciation as an agent's settings give it. */
export interface Pronunciation {
  readonly word: string
  readonly alphabet: 'ipa' | 'cmu'
  readonly phoneme: string
}

const CMU_TO_IPA: Readonly<Record<string, string>> = {
  AA: 'ɑ',
  AE: 'æ',
  AH: 'ʌ',
  AO: 'ɔ',
  AW: 'aʊ',
  AY: 'aɪ',
  B: 'b',
  CH: 'tʃ',
  D: 'd',
  DH: 'ð',
  EH: 'ɛ',
  ER: 'ɝ',
  EY: 'eɪ',
  F: 'f',
  G: 'ɡ',
  HH: 'h',
  IH: 'ɪ',
  IY: 'i',
  JH: 'dʒ',
  K: 'k',
  L: 'l',
  M: 'm',
  N: 'n',
  NG: 'ŋ',
  OW: 'oʊ',
  OY: 'ɔɪ',
  P: 'p',
  R: 'ɹ',
  S: 's',
  SH: 'ʃ',
  T: 't',
  TH: 'θ',
  UH: 'ʊ',
  UW: 'u',
  V: 'v',
  W: 'w',
  Y: 'j',
  Z: 'z',
  ZH: 'ʒ',
}

const ENGLISH_SOUNDS: Readonly<Record<string, string>> = {
  tʃ: 'ch',
  dʒ: 'j',
  ʃ: 'sh',
  ʒ: 'zh',
  θ: 'th',
  ð: 'th',
  ŋ: 'ng',
  j: 'y',
  x: 'kh',
  ɡ: 'g',
  ɹ: 'r',
  ɾ: 'r',
  ʁ: 'r',
  ɲ: 'ny',
  ʎ: 'ly',
  ɣ: 'g',
  β: 'b',
  ʔ: '',
  eɪ: 'ay',
  aɪ: 'igh',
  aʊ: 'ow',
  ɔɪ: 'oy',
  oʊ: 'oh',
  əʊ: 'oh',
  iː: 'ee',
  i: 'ee',
  ɪ: 'ih',
  e: 'eh',
  ɛ: 'eh',
  æ: 'a',
  ɑː: 'ah',
  ɑ: 'ah',
  a: 'ah',
  ɒ: 'o',
  ɔː: 'aw',
  ɔ: 'aw',
  o: 'oh',
  ʊ: 'oo',
  uː: 'oo',
  u: 'oo',
  ʌ: 'uh',
  ə: 'uh',
  ɜː: 'ur',
  ɜ: 'ur',
  ɝ: 'ur',
  ɚ: 'er',
  y: 'oo',
  ø: 'ur',
  œ: 'ur',
}

const SPANISH_SOUNDS: Readonly<Record<string, string>> = {
  tʃ: 'ch',
  dʒ: 'y',
  ʃ: 'sh',
  ʒ: 'y',
  θ: 'z',
  ð: 'd',
  ŋ: 'n',
  j: 'i',
  x: 'j',
  h: 'j',
  ɡ: 'g',
  ɹ: 'r',
  ɾ: 'r',
  ʁ: 'r',
  ɲ: 'ñ',
  ʎ: 'll',
  ɣ: 'g',
  β: 'b',
  ʔ: '',
  v: 'b',
  w: 'u',
  z: 's',
  ɪ: 'i',
  ɛ: 'e',
  æ: 'a',
  ɑ: 'a',
  ɒ: 'o',
  ɔ: 'o',
  ʊ: 'u',
  ʌ: 'a',
  ə: 'e',
  ɜ: 'e',
  ɝ: 'er',
  ɚ: 'er',
  y: 'u',
  ø: 'e',
  œ: 'e',
}
const ACCENTS: Readonly<Record<string, string>> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú' }

/** The pronunciation in IPA. CMU: "P AA1 R L IY0"; a stress becomes a mark before its vowel. */
export function ipaOf({ alphabet, phoneme }: Pronunciation): string {
  if (alphabet === 'ipa') return phoneme.replace(/[/[\]]/g, '').trim()
  return phoneme
    .trim()
    .split(/\s+/)
    .map(sound => {
      const [, name = '', stress] = /^([A-Z]+)([012])?$/.exec(sound.toUpperCase()) ?? []
      return (stress === '1' ? 'ˈ' : '') + (CMU_TO_IPA[name] ?? '')
    })
    .join('')
}

/** The sounds of an IPA pronunciation; stress marks and syllable breaks are sounds of their own. */
export function ipaSounds(ipa: string): string[] {
  return ipa.match(/tʃ|dʒ|eɪ|aɪ|aʊ|ɔɪ|oʊ|əʊ|[ˈˌ.]|\p{L}[\p{M}ː]*/gu) ?? []
}

/** The pronunciation in the spelling of a language: "ˈpɑːli" is "pah-lee" in English. */
export function respelled(ipa: string, language: string): string {
  return language === 'es' ? spanishRespelling(ipa) : englishRespelling(ipa)
}

function englishRespelling(ipa: string): string {
  const sounds = ipaSounds(ipa.replace(/\s+/g, ' '))
  let text = ''
  for (const [at, sound] of sounds.entries()) {
    if (/[ˈˌ.]/.test(sound)) text += '-'
    else {
      text += ENGLISH_SOUNDS[sound] ?? ENGLISH_SOUNDS[sound[0]!] ?? sound[0]!
      // A long vowel before a consonant and a vowel ends its syllable: "pah-lee".
      if (sound.endsWith('ː') && isVowel(sounds[at + 2]) && !/[ˈˌ.]/.test(sounds[at + 1] ?? '')) text += '-'
    }
  }
  return text.replace(/-+/g, '-').replace(/^-|-$/g, '')
}

function spanishRespelling(ipa: string): string {
  let isStressed = false
  let text = ''
  for (const sound of ipaSounds(ipa)) {
    if (sound === 'ˈ') isStressed = true
    else if (!/[ˌ.]/.test(sound)) {
      const plain = [...sound.replaceAll('ː', '')]
      const spelled = SPANISH_SOUNDS[sound] ?? plain.map(letter => SPANISH_SOUNDS[letter] ?? letter).join('')
      const vowel = /[aeiou]/.exec(spelled)
      text += isStressed && vowel !== null ? spelled.replace(vowel[0], ACCENTS[vowel[0]]!) : spelled
      if (vowel !== null) isStressed = false
    }
  }
  return text
}

function isVowel(sound: string | undefined): boolean {
  return sound !== undefined && /^[iɪeɛæɑaɒɔoʊuʌəɜɝɚyøœ]/.test(sound)
}
