import { describe, expect, it } from 'vitest'
import { expectedAnswer } from './expected-answer.ts'

const asked = (agentWords: string) => expectedAnswer({ agentWords, conditions: [], fields: [] }, ['en', 'es'])

describe('the answer that a question asks for', () => {
  it.each([
    ['Hello! May I have your name, please?', 'name'],
    ['What is your full name?', 'name'],
    ['¿Cómo se llama usted?', 'name'],
    ['Which day would you like to come?', 'date'],
    ['What time works for you?', 'date'],
    ['¿Qué día le viene bien?', 'date'],
    ['Shall I book it?', 'yes-no'],
    ['I have Monday at nine. Is that right?', 'yes-no'],
    ['¿Quiere que lo reserve?', 'yes-no'],
    ['How many people will come?', 'quantity'],
    ['Would you like the first or the second one?', 'choice'],
    ['Is it for you or for somebody else?', 'choice'],
    ['How can I help you today?', 'open'],
    ['Could you tell me what happened?', 'open'],
    ['Could you spell your surname?', 'spelling'],
    ['What is your phone number?', 'number'],
    ['What is your account number?', 'number'],
    ['What is your address?', 'address'],
    ['What is your e-mail address?', 'spelling'],
    ['¿A qué dirección la llevamos?', 'address'],
    ['¿Cuál es su dirección de correo?', 'spelling'],
    ['Marque el número de su pedido, o dígamelo.', 'number'],
    ['Thank you.', 'unknown'],
    ['', 'unknown'],
  ])('"%s" asks for: %s', (words, kind) => expect(asked(words).kind).toBe(kind))

  it.each([
    ['What is your phone number?', { min: 10, max: 11 }],
    ['Please tell me the four-digit code.', { min: 4, max: 4 }],
    ['What are the last four digits of your card?', { min: 4, max: 4 }],
    ['Dígame los seis dígitos, por favor.', { min: 6, max: 6 }],
    ['Please key in your four digit patient number. If you are new here, press 0.', { min: 4, max: 4 }],
    ['What is your booking number?', null],
  ])('"%s" asks for a number of known or unknown length', (words, digits) =>
    expect(asked(words)).toEqual({ kind: 'number', digits }),
  )

  it('the field that the flow reads decides where the agent’s words ask for nothing in particular', () => {
    const field = (name: string, type: 'string' | 'number' | 'boolean', description = 'a value') =>
      expectedAnswer({ agentWords: 'Go on.', conditions: [], fields: [{ name, type, description }] }, ['en'])
    expect(field('phone_number', 'string')).toEqual({ kind: 'number', digits: { min: 10, max: 11 } })
    expect(field('guests', 'number')).toEqual({ kind: 'quantity' })
    expect(field('insured', 'boolean')).toEqual({ kind: 'yes-no' })
    expect(field('x', 'string', 'the last name of the caller')).toMatchObject({ kind: 'name' })
  })

  it('edges that tell yes from no make a question closed', () => {
    const conditions = ['The caller confirms', 'The caller declines']
    expect(expectedAnswer({ agentWords: 'Everything in order?', conditions, fields: [] }, ['en'])).toEqual({
      kind: 'yes-no',
    })
  })
})
