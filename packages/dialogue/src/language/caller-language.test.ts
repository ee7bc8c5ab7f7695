import { describe, expect, it } from 'vitest'
import { CallerLanguage } from './caller-language.ts'
import { requestedLanguage } from './requested-language.ts'

function after(turns: readonly string[], languages: readonly ('en' | 'es')[] = ['en', 'es']) {
  const language = new CallerLanguage(languages)
  return turns.map(text => language.turn(text, null)?.cause ?? null)
}

describe('the language of the caller', () => {
  it.each([
    'Quiero una cita para mañana, por favor.',
    'Hola, necesito cambiar mi cita.',
    'buenas tardes quisiera hablar con alguien',
    'mi número es seis cero uno',
  ])('the language of the caller changes at once for "%s"', text => {
    expect(after([text])).toEqual(['words'])
  })

  it.each(['I would like an appointment for tomorrow', 'hello I need to cancel it', 'my number is six oh one'])(
    'the language of the caller changes back at once for "%s"',
    text => {
      expect(after([text], ['es', 'en'])).toEqual(['words'])
    },
  )

  it.each([
    'Juan de la Cruz',
    'I live in Los Angeles near El Camino Real',
    'My name is Maria del Carmen Santa Maria',
    'no',
    'okay',
    'Monday the second',
    'My son has a van',
    'Taco Bell on San Pedro',
  ])('the language of the caller stays English for "%s", also when it is said twice', text => {
    expect(after([text, text])).toEqual([null, null])
  })

  it.each(['sí', 'no', 'Monday es bueno', 'John Smith', 'el doctor Smith'])('stays Spanish for "%s"', text => {
    expect(after([text, text], ['es', 'en'])).toEqual([null, null])
  })

  it('the language of the caller changes after two short answers in a row, not after one', () => {
    expect(after(['claro', 'Monday is fine with me', 'claro', 'gracias'])).toEqual([null, null, null, 'words'])
  })

  it('the language of the caller follows the recogniser where the words do not contradict it', () => {
    const language = new CallerLanguage(['en', 'es'])
    expect(language.turn('I want to talk to you', 'es')).toBeNull()
    expect(language.turn('dolor muelas fuerte', 'es-MX')).toEqual({ language: 'es', cause: 'recogniser' })
    expect(language.current).toBe('es')
  })

  it('the language of the caller never leaves the languages of the agent', () => {
    expect(after(['Quiero una cita para mañana', 'español por favor'], ['en'])).toEqual([null, null])
  })
})

describe('a request for a language', () => {
  it.each([
    ['Spanish please', 'es'],
    ['español', 'es'],
    ['Hello, do you speak Spanish?', 'es'],
    ['Can we talk in Spanish, please?', 'es'],
    ['¿Habla español?', 'es'],
    ['No hablo inglés', 'es'],
    ["I don't speak English", 'es'],
    ['In English, please.', 'en'],
    ['¿Puede hablar en inglés?', 'en'],
    ["I'd prefer English", 'en'],
    ["Sorry, I don't understand Spanish", 'en'],
    ['The doctor speaks Spanish', null],
    ['I would like Spanish lessons', null],
    ['How do you say that in Spanish?', null],
    ['I am Spanish and I live in Madrid', null],
    ['', null],
  ])('a request for a language in "%s" is for %s', (text, language) => {
    expect(requestedLanguage(text)).toBe(language)
  })
})
