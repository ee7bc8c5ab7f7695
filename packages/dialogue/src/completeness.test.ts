import { describe, expect, it } from 'vitest'
import { completeness } from './completeness.ts'
import { lexiconsOf } from './lexicon/lexicon.ts'

const score = (text: string, languages: readonly string[] = ['en', 'es']) =>
  completeness(text === '' ? [] : text.split(' '), lexiconsOf(languages))

describe('completeness of a caller’s words', () => {
  it.each([
    'I need to see a dentist.',
    'Can you help me?',
    'Yes',
    'no thank you',
    'Okay, thanks.',
    'actually cancel that',
    'no I don’t',
    'I suppose so',
    'I guess so',
    'I’m afraid not',
    'I would like a table for two please',
    'my number is 415 555 2671',
    '4 1 5 5 5 5 2 6 7 1',
    'Necesito ver a un dentista.',
    '¿Me puede ayudar?',
    'Sí',
    'claro que sí',
    'quiero una mesa para dos por favor',
    'seis uno dos tres cuatro cinco seis siete ocho nueve',
  ])('"%s" scores as complete', text => expect(score(text)).toBeGreaterThanOrEqual(0.8))

  it.each([
    'I need to see the',
    'I was wondering if',
    'I would like',
    'we could come on',
    'what did',
    'I was told that he did',
    'it is about um',
    'let me see',
    'hold on',
    'my card number is 4 5 5 6',
    'my number is five five five',
    'six one seven five five five',
    'it is spelled w a l',
    'my email is maria at gmail dot',
    'So I thought...',
    'First, the address,',
    'necesito ver al',
    'estaba pensando que',
    'es para el',
    'pues',
    'déjame ver',
    'mi teléfono es 6 1 2',
    'se escribe g a r',
    'mi correo es maría arroba',
  ])('"%s" scores as unfinished', text => expect(score(text)).toBeLessThanOrEqual(0.3))

  it.each([
    'we came by train yesterday',
    'vinimos en tren ayer por la mañana',
    'a blue one',
    'twenty five',
    'my brother did',
    'since March',
    'desde marzo',
    '',
  ])('"%s" scores as neither complete nor unfinished', text => {
    expect(score(text)).toBeGreaterThan(0.3)
    expect(score(text)).toBeLessThan(0.8)
  })

  it('words that end in a dangling word score as unfinished, even with a full stop of the recogniser', () => {
    expect(score('I would like to.')).toBeLessThan(0.4)
    expect(score('Quiero hablar con.')).toBeLessThan(0.4)
  })

  it('words are scored by the lexicon of their own language', () => {
    // "once" is eleven in Spanish; an English sentence may end with "me", a Spanish one does not.
    expect(score('please call me')).toBeGreaterThan(score('es que me'))
    expect(score('a las once', ['es'])).toBeGreaterThan(0.5)
    expect(score('I did it once', ['en'])).toBeGreaterThan(0.5)
  })

  it('words of a language without a lexicon are scored by their punctuation', () => {
    for (const language of ['de', 'ja']) {
      expect(score('Ich komme morgen.', [language])).toBeGreaterThan(0.8)
      expect(score('Ich komme morgen,', [language])).toBeLessThan(0.3)
      expect(score('was', [language])).toBeGreaterThan(0.3)
      expect(score('明 日 行 き ま す', [language])).toBeGreaterThan(0.5)
    }
  })
})
