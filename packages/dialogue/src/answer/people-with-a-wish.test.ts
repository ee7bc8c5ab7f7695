import { describe, expect, it } from 'vitest'
import { classesOf, detect } from '../testing/scripted-answer.ts'
import { isMachine } from './protocol.ts'

const classes = (language: string, says: string, wordMs: number) =>
  classesOf(detect([{ pauses: 600 }, { says, wordMs }, { pauses: 2000 }], { languages: [language] }))

describe('who says at once what they want', () => {
  it.each([
    ['en', 'hello I would like to book an appointment please'],
    ['en', 'would like to book an appointment please'],
    ['en', 'like to book an appointment please'],
    ['en', "hi I'd like to cancel my appointment for tomorrow please"],
    ['en', 'yes I need to report a problem with my order'],
    ['en', "hello I'm calling to check the hours of the office"],
    ['en', 'hi I have a question about a payment that I made'],
    ['en', 'I want to speak to an agent about my account'],
    ['es', 'hola quisiera reservar una cita para el lunes por favor'],
    ['es', 'buenas me gustaría cambiar la cita de mañana por favor'],
    ['es', 'hola llamo para cancelar la reserva de esta noche'],
  ])('is a person, however fast they speak (%s: "%s")', (language, says) => {
    for (const wordMs of [200, 250, 300, 350, 400]) expect(classes(language, says, wordMs)).toEqual(['human'])
  })

  it.each([
    ['en', 'if you would like to book an appointment press one'],
    ['en', 'thank you for calling would you like to make an appointment or cancel one'],
    ['en', 'to book an appointment press one to cancel it press two'],
    ['es', 'si desea reservar una cita marque uno'],
    ['es', 'gracias por llamar si quiere cambiar su cita pulse dos'],
  ])('is no person where a menu offers it (%s: "%s")', (language, says) =>
    expect(classes(language, says, 300).filter(isMachine)).not.toEqual([]),
  )
})
