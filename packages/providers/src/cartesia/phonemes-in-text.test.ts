import { expect, it } from 'vitest'
import { phonemesInText } from './phonemes-in-text.ts'

it('Cartesia gets a pronunciation as phonemes between bars', () => {
  expect(phonemesInText('ˈpɑː.li')).toBe('<<ˈ|p|ɑː|l|i>>')
  expect(phonemesInText('dʒaɪn')).toBe('<<dʒ|aɪ|n>>')
})
