import { describe, expect, it } from 'vitest'
import { choose } from './choice.ts'
import { corrected } from './corrections.ts'
import { parseTurn } from './turn.ts'

describe('a turn that the caller corrects', () => {
  it.each([
    ['Tuesday, no, sorry, Thursday.', 'Thursday.'],
    ['Tuesday no sorry Thursday', 'Thursday'],
    ['Tuesday. No wait, Thursday at nine.', 'Thursday at nine.'],
    ['Yes. Actually cancel that.', 'cancel that.'],
    ['My name is Jon, I mean, John Smith.', 'John Smith.'],
    ['Two pizzas, sorry, three.', 'three.'],
    ['Large, no, sorry, small, or rather medium.', 'medium.'],
    ['El martes, perdón, el jueves.', 'el jueves.'],
    ['Dos, digo, tres.', 'tres.'],
    ['La grande, mejor dicho la mediana.', 'la mediana.'],
    ['Eh, no sé mediana.', 'mediana.'],
    ["Uh, I don't know, the first one.", 'the first one.'],
    ['Not sure. Thursday.', 'Thursday.'],
  ])('"%s" says "%s"', (text, rest) => {
    expect(corrected(text)).toBe(rest)
  })

  it.each([
    'No, sorry.',
    'No, sorry, I cannot.',
    'Sorry, I did not hear you.',
    'I actually want Tuesday.',
    'I mean the first one.',
    'I am sorry to hear that.',
    'What do you mean, actually?',
    'Le digo que sí.',
    'Perdón, ¿qué días tienen?',
    'Thursday.',
    "I don't know what it costs.",
    "I don't know.",
    'No sé si puedo.',
    '',
  ])('"%s" is no correction', text => {
    expect(corrected(text)).toBe(text)
  })

  it('the corrected words choose the edge, not those before', () => {
    const transitions = [
      { tool: 'book', condition: 'The caller agrees' },
      { tool: 'cancel', condition: 'The caller wants to cancel' },
    ]
    const turn = parseTurn(corrected('Yes. Actually cancel that.'), null, 'en')
    expect(choose(transitions, { turn, question: null }, 'en')?.tool).toBe('cancel')
  })
})
