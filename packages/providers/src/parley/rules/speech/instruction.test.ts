import { describe, expect, it } from 'vitest'
import { questionsIn, speechOf } from './instruction.ts'

const english = (instruction: string) => speechOf(instruction, 'en').sentences.join(' ')
const spanish = (instruction: string) => speechOf(instruction, 'es').sentences.join(' ')

describe('the speech for an instruction', () => {
  it.each([
    ["Ask for the caller's name and date of birth.", 'Could you tell me your name and date of birth?'],
    ['Ask whether they want a single or a double room', 'Do you want a single or a double room?'],
    ['Ask if the caller is a member.', 'Are you a member?'],
    ['Ask if they have a booking', 'Do you have a booking?'],
    ['Ask whether they have been here before.', 'Have you been here before?'],
    ['Ask whether the address is correct.', 'Could you tell me whether the address is correct?'],
    ['Ask which room the caller prefers.', 'Which room do you prefer?'],
    ['Ask how many guests are coming', 'How many guests are coming?'],
    ['Ask when they would like to arrive.', 'When would you like to arrive?'],
    ['Ask the caller to spell their name.', 'Could you please spell your name?'],
    ['Ask: Anything else?', 'Anything else?'],
    ['Ask for the room number if needed.', 'Could you tell me the room number?'],
    ['Find out what the problem is.', 'What is the problem?'],
    ['Tell the caller that their room is ready.', 'Your room is ready.'],
    ['Tell them you will call back tomorrow.', 'I will call back tomorrow.'],
    ['Let the caller know the restaurant is closed.', 'The restaurant is closed.'],
    ['Say "Welcome to the Grand." and ask how you can help.', 'Welcome to the Grand. How can I help?'],
    ["Say exactly: 'We don't do that.'", "We don't do that."],
    [
      'Greet the caller, apologise for the wait and ask for the order number.',
      'Hello! I am sorry for the wait. Could you tell me the order number?',
    ],
    ['Offer the caller the suite.', 'I can offer you the suite.'],
    ['Thank them for their patience, then say goodbye.', 'Thank you for your patience. Goodbye!'],
    ['Wish the caller a pleasant stay.', 'Have a pleasant stay.'],
    ['Welcome the caller to the Grand.', 'Welcome to the Grand.'],
    ['Introduce yourself as Max from the Grand.', 'This is Max from the Grand.'],
    ['Breakfast is from seven to ten. Would you like some?', 'Breakfast is from seven to ten. Would you like some?'],
    ['- Ask for the name.\n- Ask for the room.', 'Could you tell me the name? Could you tell me the room?'],
  ])('"%s" becomes "%s"', (instruction, speech) => {
    expect(english(instruction)).toBe(speech)
  })

  it.each([
    'Be friendly and brief.',
    'If the caller hesitates, ask again.',
    'Never promise a refund.',
    'You are a concierge. Speak slowly.',
    'Wait for the answer.',
    '   ',
    '???',
  ])('the speech for an instruction is empty for "%s"', instruction => {
    expect(english(instruction)).toBe('')
  })

  it.each([
    ['Pide el nombre del cliente.', '¿Me puede decir su nombre?'],
    ['Pregunta si quiere desayuno.', '¿Quiere desayuno?'],
    ['Pregunta si el cliente tiene reserva.', '¿Tiene reserva?'],
    ['Pregunta qué habitación prefiere.', '¿Qué habitación prefiere?'],
    ['Pregunte al cliente a qué hora llega', '¿A qué hora llega?'],
    ['Pide al cliente que repita el número.', 'Por favor, repita el número.'],
    ['Dile que su habitación está lista.', 'Su habitación está lista.'],
    ['Informa al cliente de que el restaurante está cerrado.', 'El restaurante está cerrado.'],
    ['Di "Buenas tardes." y pregunta en qué puedes ayudar.', 'Buenas tardes. ¿En qué puedo ayudar?'],
    ['Saluda, da las gracias por llamar y despídete.', 'Hola. Gracias por llamar. Adiós.'],
    ['Ofrece una suite.', 'Le puedo ofrecer una suite.'],
    ['Desea un buen viaje.', 'Que tenga un buen viaje.'],
    ['Sé breve. Si duda, espera. No inventes nada.', ''],
  ])('"%s" in Spanish becomes "%s"', (instruction, speech) => {
    expect(spanish(instruction)).toBe(speech)
  })

  it('the speech for an instruction lists its questions', () => {
    expect(speechOf('Say hello. Ask for the name.', 'en').questions).toEqual(['Could you tell me the name?'])
    expect(questionsIn('It is ten. Shall I book it? Press 1.')).toEqual(['Shall I book it?'])
    expect(questionsIn('Bien. ¿Lo pido?')).toEqual(['¿Lo pido?'])
  })

  it('the speech for an instruction is in the language of the instruction', () => {
    expect(speechOf('Pregunta qué habitación quiere.', 'en').sentences).toEqual(['¿Qué habitación quiere?'])
    expect(speechOf('Ask which room they want.', 'es').sentences).toEqual(['Which room do you want?'])
  })
})
