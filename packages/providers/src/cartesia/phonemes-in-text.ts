import { ipaSounds } from '../spoken-text/phonemes.ts'

/** A pronunciation in the text of a request: `<<ˈ|p|ɑː|l|i>>`. */
export function phonemesInText(ipa: string): string {
  return `<<${ipaSounds(ipa)
    .filter(sound => sound !== '.')
    .join('|')}>>`
}
