import { lines, type Pools, type WordingClass } from './wordings.ts'

/** Lines of the tuning half alone, beside those that the hash puts there: what people say that sounds like a machine, and rarer wordings of machines. */
type DevelopmentWordings = Readonly<Partial<Record<WordingClass, Pools>>>

const ENGLISH: DevelopmentWordings = {
  person: [
    lines(`
      No, he's not available at the moment, can I take a message?
      She isn't here right now, who's calling?
      Sorry, I can't talk right now.
      I'm sorry, who is this?
      You've reached the wrong number, I think.
      Sorry, wrong number.
      Can you call me back later? I'm at work.
      Hello, can I call you back in five minutes?
      Hello, you're on speaker, go ahead.
      Hold on, let me turn the music down.
      Hello? I can barely hear you, the line is terrible.
      {name} here.
      Yep, this is {name}.
      Hello, {name}'s phone, he's in the shower.
      Hi, {name}'s phone, can I help you?
      Yes, you've reached him, what is it about?
      Hi, is that the pharmacy? I've been waiting for your call.
      Hello, sorry, I missed your call earlier.
      I was just about to leave the house, what's up?
      Please stop calling this number.
      Don't call me again, please.
      Take me off your list.
      Hey, I'm on the other line, can you hold for a second?
      Good evening, the {name} residence.
      Sorry, we're closed today, we open again tomorrow at nine.
      Hello, please hold one second, I'm just at the door.
      My daughter isn't home, is it important?
      What number did you dial?
      Hello, this is a busy time, please make it quick.
      All right, hello, hello, can you hear me now?
      I don't know this number, who are you?
      Is this a recording?`),
  ],
  company: [
    lines(`
      Thank you for holding, {company},
      Thank you so much for calling {company},
      {company}, sales and support,
      Good morning, {company}, thanks for waiting,
      Hello, you've reached the {company} office,
      You've reached {company},
      Good afternoon, thank you for choosing {company},
      Hi there, thanks for your call to {company},`),
    lines(`
      this is {name}, what can I do for you today?
      {name} here, how can I help?
      who am I speaking with?
      can you hold for just a moment, please?
      {name} on reception, who would you like to speak to?
      you're speaking with {name}.
      what's your name, please?
      are you calling about an appointment?
      is this about an order?
      how can I make your day better?`),
  ],
  voicemail: [
    lines(`
      This is {name}.
      Hi, it's {name}.
      Hello, this is {name} and I'm not here.
      {name} here, well, not really.
      Good day, you have dialled {name}.
      Hi, you've got {name}'s voicemail.
      Hello. | I'm just kidding, this is my voicemail.`),
    lines(`
      I'm on holiday until Monday,
      I'm in a meeting or on the road,
      I'm away this week,
      sorry I can't pick up,
      I never check this phone,
      I can't get to my phone at present,`),
    lines(`
      drop me a line after the beep.
      so please leave me a few words and your phone number.
      try my mobile, or leave your details after the signal.
      tell me what you need and I'll ring you when I can.
      you know the drill.
      text me instead, I don't listen to these.`),
  ],
  'operator-voicemail': [
    lines(`
      Welcome to the messaging service.
      The cellular customer you are calling is away.
      Your call has been answered by an automatic recording system.
      We cannot connect your call to {number} right now.
      {number} cannot take your call.`),
    lines(`
      To leave a voice message, wait for the signal.
      Record your message now, and press pound when done.
      Please speak after the tone. Calls are charged from then on.
      Begin speaking when you hear the tone.`),
  ],
  mailbox_unavailable: [
    lines(`
      The person you're trying to reach cannot take calls, and
      Hi,
      We were unable to connect you, because`),
    lines(`
      this person's voicemail is full, try again another time.
      messages can't be left for this number at present.
      the mailbox belonging to this number has no space left.
      the voicemail you are trying to reach has not been activated by its owner.
      the inbox for this subscriber is full.`),
  ],
  ivr: [
    lines(`
      Hello from {company}.
      You have reached {company}.
      You're through to {company}.
      Thanks for ringing {company}.
      You have called {company}, the place for all your needs.`),
    lines(`
      We record our calls to improve our service.
      So that we can direct your call, tell us what it is about.
      We have a few choices for you.
      If you know your party's extension, you may dial it at any time.
      Did you know that you can do most things online? Visit our website.
      Our lines are open from eight to eight.`),
    lines(`
      If you are a new customer, press one. If you already have an account, press two.
      Billing questions, press three. Everything else, stay with us.
      In a few words, what is your call about?
      Key in your date of birth.
      Use your keypad to enter your policy number, then press hash.`),
  ],
  'hold-queue': [
    lines(`
      You are number four in the queue.
      We're experiencing longer waits than normal.
      Our team is helping other callers.
      Thank you for your patience.`),
    lines(`
      We'll get to you as quickly as we can.
      Hold the line and an advisor will pick up shortly.
      Your place in the queue is kept.
      Don't hang up, you're moving up the line.`),
  ],
  screener: [
    lines(`
      Hi, this number is protected by a call filter.
      Hello, I'm the digital assistant answering for {name}.
      The subscriber has asked me to screen this call.
      You're speaking to an automatic receptionist.
      Hello. This phone does not ring for callers it doesn't know.
      Hi, {name} can't see who this is.
      Hello, this is the assistant of {name}.
      This line does not take calls from numbers it has not seen before.
      Hi, I pick up the phone for {name}.
      To reach {name}, you have to introduce yourself first.
      The person at this number checks who calls before answering.
      Hello, your number is new to {name}.
      You have been connected to a spam blocker.
      This is an automated attendant for {name}'s mobile.
      Hi, {name} has turned on smart call answering.
      Unidentified callers cannot be put through directly.`),
    lines(`
      Give me your name and what this is in regard to.
      Who may I say is calling?
      Please announce yourself after the beep, and I'll put you through.
      Could you identify yourself and your company?
      Tell me who's on the line and I'll find out if they want to talk.
      Kindly provide your name and the purpose of your call.
      Who are you, and what do you need?
      Please introduce yourself and say what you want.
      What should I tell them this is about?
      After the tone, say who you are. Your call will then be announced.
      Let me know who you are and what it is about, and I'll pass it on.
      If you are a real person, tell me the reason for ringing.
      I need your name and your company before I can ring through.
      May I have your name, please? I'll ask whether they are free.
      Leave your name, and wait while I check.
      Would you tell me what you're calling for?`),
  ],
  'screener-question': [
    lines(`
      And what is it regarding?
      Can you say a bit more about that?
      Does {name} know you?
      Please wait, I am asking them now.
      One moment, I'm trying to put you through.
      Which company are you with?`),
  ],
  announcement: [
    lines(`
      Notice.
      Hello,
      Unfortunately,`),
    lines(`
      we could not connect your call, please dial again.
      there is no subscriber at this number.
      calls to this number are barred.
      the line you are calling has been suspended.
      your call did not go through.
      this customer's phone can't receive calls.`),
  ],
}

const SPANISH: DevelopmentWordings = {
  person: [
    lines(`
      No está en este momento, ¿quiere dejar un recado?
      Ahora no puedo hablar, ¿quién es?
      No, se ha equivocado de número.
      Perdone, ¿de parte de quién?
      ¿Me puede llamar más tarde? Estoy trabajando.
      Espere, que bajo la música.
      Hola, no le oigo bien, hay mucho ruido.
      Sí, soy yo, ¿qué desea?
      Mi marido no está disponible, ¿quién le llama?
      No me llamen más, por favor.
      Aquí {name}, ¿quién es?
      Teléfono de {name}, ahora se pone.
      Hola, perdona, no pude contestar antes.
      Hoy estamos cerrados, abrimos mañana.
      Lo siento, no me interesa.
      ¿Es usted una grabación?
      Diga, ¿quién llama?
      Un momento, que estoy en la puerta.
      ¿Cómo dice? No conozco este número.
      Aló, ¿con quién tengo el gusto?`),
  ],
  company: [
    lines(`
      Gracias por esperar, {company},
      Ha llamado a {company},
      {company}, buenas noches,
      Buenos días, gracias por llamar a {company},
      Bienvenido a {company},`),
    lines(`
      ¿en qué le puedo ayudar?
      le atiende {name}, ¿en qué puedo ayudarle?
      soy {name}, ¿con quién hablo?
      ¿con quién desea hablar?
      habla {name}, a sus órdenes.
      ¿me permite un momento, por favor?
      ¿llama por una cita?`),
  ],
  voicemail: [
    lines(`
      Hola, este es el teléfono de {name}.
      Soy {name}, seguramente estoy en una reunión.
      Has llamado a {name}.
      ¡Hola! | Ahora mismo no te puedo contestar, soy {name}.`),
    lines(`
      Estoy de vacaciones hasta el lunes,
      No tengo el móvil a mano,
      Si me llamas y no contesto,
      No nos encontramos en la oficina,`),
    lines(`
      ya sabes qué hacer después de la señal.
      cuéntame qué necesitas y te llamo luego.
      escríbeme mejor un mensaje de texto.
      deja tus datos y me pondré en contacto contigo.`),
  ],
  'operator-voicemail': [
    lines(`
      Este es el servicio de mensajería de voz.
      Le atiende el contestador automático.
      El número {number} no responde en este momento.`),
    lines(`
      Grabe su recado tras la señal acústica.
      Empiece a hablar cuando suene el tono.
      Para dejar un recado, espere la señal.`),
  ],
  mailbox_unavailable: [
    lines(`
      Lo sentimos,
      La persona a la que llama no contesta y
      En este momento`),
    lines(`
      no se pueden dejar mensajes en este número.
      el buzón de esta persona está completo.
      este usuario aún no ha creado su buzón.
      el contestador no tiene espacio para más mensajes.`),
  ],
  ivr: [
    lines(`
      Bienvenidos a {company}.
      Gracias por contactar con {company}.
      Buenos días, ha llamado a {company}.
      Le damos la bienvenida a {company}.`),
    lines(`
      Grabamos las llamadas para mejorar nuestro servicio.
      Díganos brevemente el motivo de su consulta.
      Tenemos varias opciones para usted.
      También puede visitarnos en internet.`),
    lines(`
      Si ya es cliente, pulse uno. Si no lo es, pulse dos.
      Facturación, tecla tres. Otras consultas, espere.
      Teclee su número de póliza y la almohadilla.
      Para emergencias, marque nueve.`),
  ],
  'hold-queue': [
    lines(`
      Usted es el número tres en la cola.
      Nuestros agentes atienden otras llamadas.
      Gracias por su paciencia.`),
    lines(`
      Le atenderemos lo antes posible.
      Manténgase a la espera, por favor.
      En breve le atenderá uno de nuestros asesores.
      Por favor, no cuelgue.`),
  ],
  screener: [
    lines(`
      Hola, este número está protegido con un filtro.
      Hola, contesto las llamadas de {name} de forma automática.
      Este teléfono no acepta llamadas de desconocidos.
      Le habla un asistente digital.
      Hola, atiendo el teléfono de {name}.
      Esta línea no recibe llamadas de números nuevos.
      La persona de este número comprueba quién llama antes de contestar.
      Para hablar con {name}, primero tiene que presentarse.
      Ha contactado con un bloqueador de llamadas no deseadas.
      Hola, {name} no conoce su número.`),
    lines(`
      ¿De parte de quién y para qué asunto?
      Identifíquese después de la señal y le paso.
      Dígame su nombre, su empresa y lo que desea.
      Deme su nombre y el asunto de la llamada.
      ¿Quién le digo que llama y cuál es el asunto?
      ¿Quién es usted y qué necesita?
      Preséntese, por favor, y diga qué desea.
      Tras la señal, diga quién es y anunciaré su llamada.
      Necesito su nombre y el de su empresa para pasarle.
      ¿Me dice su nombre? Preguntaré si puede atenderle.
      Si es una persona, dígame para qué llama.`),
  ],
  'screener-question': [
    lines(`
      ¿Y para qué asunto es?
      ¿Puede darme más detalles?
      Espere un momento, le estoy preguntando.
      ¿De qué empresa llama?`),
  ],
  announcement: [
    lines(`
      Aviso.
      Estimado cliente,`),
    lines(`
      no hemos podido conectar su llamada, marque otra vez.
      no hay ningún abonado en este número.
      la línea a la que llama está suspendida.
      este teléfono no puede recibir llamadas.
      su llamada no se ha podido establecer.`),
  ],
}

/** The lines of a class by pool; empty: none. */
export function developmentLines(language: 'en' | 'es', name: WordingClass, pool: number): readonly string[] {
  return (language === 'en' ? ENGLISH : SPANISH)[name]?.[pool] ?? []
}
