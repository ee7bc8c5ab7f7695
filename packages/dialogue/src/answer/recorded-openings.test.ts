import { describe, expect, it } from 'vitest'
import { classesOf, detect } from '../testing/scripted-answer.ts'
import { isMachine } from './protocol.ts'

const MACHINES: [string, string][] = [
  ['en', 'thank you for calling Riverside currently the office'],
  ['en', "thank you for calling Riverside if you'd rather book"],
  ['en', 'Riverside Dental if you are calling about'],
  ['en', 'good afternoon Riverside Clinic our normal opening hours'],
  ['en', 'the extension you want is temporarily unavailable'],
  ['es', 'gracias por llamar a Riberas por su seguridad esta'],
  ['es', 'Riberas nuestro horario de lunes a viernes'],
  ['es', 'Ana por el momento no estamos'],
  ['es', 'hola soy Ana ahorita no nos podemos comunicar'],
  ['es', 'este es el celular de Ana regreso tu llamada'],
  ['es', 'el número no es válido'],
]

const PEOPLE: [string, string][] = [
  ['en', "I'm currently driving can this wait"],
  ['en', "I'm probably going to be late is that okay"],
  ['en', 'could you tell me your opening hours please'],
  ['en', "the doctor is with a patient at the moment who's calling"],
  ['es', 'estoy de viaje no puedo hablar ahora'],
  ['es', 'por ahora no puedo hablar llámeme luego'],
  ['es', 'abrimos de lunes a viernes'],
  ['en', "you've reached the Riverside office this is Maria how can I help you today"],
  ['en', 'welcome to Riverside this is Maria what can I do for you this morning'],
  ['en', "sorry we're closed today we open again tomorrow at nine"],
  ['en', 'hello sorry I missed your call earlier'],
  ['en', 'is this a recording'],
  ['en', "I'm not interested thank you have a great day"],
  ['es', 'bienvenido a Riberas le atiende Ana en qué puedo ayudarle'],
  ['es', 'gracias por llamar a Riberas con quién desea hablar'],
  ['es', 'hoy estamos cerrados abrimos mañana'],
  ['es', 'hola perdona no pude contestar antes'],
  ['es', 'me puede llamar más tarde estoy trabajando'],
  ['es', 'ahorita no puedo hablar estoy manejando'],
]

const classes = (language: string, says: string) =>
  classesOf(detect([{ pauses: 600 }, { says }], { languages: [language] }))

describe('what begins is known by its first words', () => {
  it.each(MACHINES)('%s: a machine that says "%s"', (language, says) => {
    expect(says.split(' ').length).toBeLessThanOrEqual(9)
    expect(classes(language, says).filter(isMachine)).not.toEqual([])
  })

  it.each(PEOPLE)('%s: a person who says "%s" is no machine', (language, says) => {
    expect(classes(language, says).filter(isMachine)).toEqual([])
  })
})
