import { type LanguageWordings, lines } from './wordings.ts'

export const SPANISH: LanguageWordings = {
  names: [
    'Ana García',
    'Juan',
    'María López',
    'el doctor Ruiz',
    'Pedro',
    'Lucía',
    'Carlos Fernández',
    'la familia Gómez',
  ],
  companies: [
    'Clínica del Valle',
    'Talleres Pérez',
    'Banco Central',
    'Seguros del Norte',
    'Hotel Miramar',
    'Dental Sonrisa',
    'Muebles Ortega',
  ],
  wordings: {
    person: [
      lines(`
        ¿Hola?
        Hola.
        ¿Sí?
        ¿Diga?
        Dígame.
        ¿Aló?
        ¿Bueno?
        Sí, dígame.
        Hola, ¿quién es?
        Hola, ¿quién habla?
        Soy {name}, dígame.
        {name} al habla.
        Hola, hola.
        Buenas tardes.
        Buenos días, ¿quién llama?
        ¿Mande?
        Hola, ¿me escucha?
        Sí, hola, ¿qué tal?
        Dime.
        Oiga, estoy conduciendo, ¿es urgente?
        Espere un momento, por favor.
        Hola, perdón, no encontraba el teléfono.
        ¿Mamá? ¿Eres tú?
        Eh, hola, ¿quién es?
        Buenas.
        Sí, soy yo.
        Casa de {name}, buenos días.
        Hola, ¿es por el pedido?`),
    ],
    company: [
      lines(`
        {company}, buenos días,
        Buenos días, {company},
        Gracias por llamar a {company},
        Buenas tardes, {company},
        {company}, atención al cliente,
        Hola, {company},
        Bienvenido a {company},
        {company}, recepción,`),
      lines(`
        le atiende {name}, ¿en qué puedo ayudarle?
        mi nombre es {name}, ¿en qué le puedo servir?
        le habla {name}.
        ¿en qué puedo ayudarle?
        soy {name}, ¿con quién desea hablar?
        le saluda {name}, dígame.
        ¿en qué podemos ayudarle?
        habla {name}, a sus órdenes.`),
    ],
    voicemail: [
      lines(`
        Hola, soy {name}.
        Hola, has llamado a {name}.
        Este es el buzón de voz de {name}.
        Se ha comunicado con {name}.
        Hola, este es el contestador de {name}.
        ¡Hola! | Te has comunicado con {name}.
        Ha llamado a {company}.
        Hola, gracias por llamar.
        Este es el teléfono de {name}.
        ¿Hola? | No, es broma, es el contestador de {name}.
        Está llamando a {company}.
        Buenas, soy {name}.`),
      lines(`
        En este momento no puedo atenderte,
        Ahora mismo no puedo contestar,
        En este momento no estoy disponible,
        No podemos atender su llamada,
        Lo siento, no puedo ponerme al teléfono,
        No estoy en casa,
        Estoy ocupado y no puedo responder,
        Nuestras oficinas están cerradas,
        Ahora no puedo hablar,
        En estos momentos no podemos atenderle,
        No me encuentro disponible,
        Estoy fuera de la oficina,`),
      lines(`
        deja tu mensaje después de la señal.
        por favor deje su mensaje después del tono.
        deja un mensaje y te llamaré en cuanto pueda.
        deje su nombre y su número y le llamaremos lo antes posible.
        déjame un mensaje y te devolveré la llamada.
        deje su mensaje al oír la señal.
        grabe su mensaje tras el tono, gracias.
        déjenos un mensaje y nos pondremos en contacto con usted.
        por favor, deja tu nombre y te llamo.
        espera el pitido y habla.
        deje un breve mensaje después del bip.
        mándame un mensaje o deja un recado.`),
    ],
    'operator-voicemail': [
      lines(`
        Su llamada ha sido transferida al buzón de voz.
        La persona con la que intenta comunicarse no está disponible.
        El cliente al que llama no está disponible.
        El usuario no puede atender su llamada.
        Buzón de voz del número {number}.
        Su llamada ha sido desviada a un sistema de mensajes.
        Está llamando al buzón de voz de {number}.
        El abonado al que llama no contesta.
        La persona a la que llama no puede contestar.
        Le atiende el contestador automático.`),
      lines(`
        Deje su mensaje después de la señal.
        Por favor, grabe su mensaje después del tono.
        Al escuchar el tono, deje su mensaje.
        Si lo desea, deje un mensaje.
        Hable después de oír la señal.
        Después del tono, grabe su mensaje y cuelgue.
        Puede dejar un mensaje tras la señal.
        Espere el tono y deje su mensaje.`),
    ],
    mailbox_unavailable: [
      lines(`
        Lo sentimos,
        Lo siento,
        La persona a la que llama no está disponible,
        Disculpe,
        El usuario no contesta,
        Hola,
        No podemos atender su llamada,
        Perdone,`),
      lines(`
        el buzón de voz está lleno.
        el buzón está lleno y no puede recibir más mensajes.
        el buzón de voz no ha sido configurado.
        el cliente no tiene un buzón de voz activado.
        el buzón no acepta nuevos mensajes en este momento.
        el usuario aún no ha activado su buzón de voz.
        no hay espacio para nuevos mensajes.
        este buzón todavía no tiene saludo y no está configurado.
        la memoria del contestador está llena.
        el buzón del abonado no admite más mensajes. Adiós.`),
    ],
    ivr: [
      lines(`
        Gracias por llamar a {company}.
        Bienvenido a {company}.
        Bienvenidos a {company}.
        Se ha comunicado con {company}.
        Está llamando a {company}.
        {company}.
        Hola, gracias por comunicarse con {company}.
        Le damos la bienvenida a {company}.`),
      lines(`
        Por favor escuche con atención, nuestro menú ha cambiado.
        Esta llamada puede ser grabada para mejorar la calidad del servicio.
        Si conoce el número de extensión, márquelo ahora.
        For English, press two.
        Seleccione una de las siguientes opciones.
        Nuestro horario de atención es de nueve a seis.
        Le informamos que su llamada será grabada.
        Elija una opción.
        Para continuar en español, pulse uno.
        Soy el asistente virtual.`),
      lines(`
        Para ventas, marque uno. Para soporte, marque dos.
        Pulse uno para citas o dos para facturación.
        Para hablar con un operador, oprima cero.
        Si desea pedir cita, pulse uno.
        Para reservas, presione uno. Para cancelaciones, presione dos.
        Dígame en pocas palabras el motivo de su consulta.
        Introduzca su número de cliente seguido de la tecla numeral.
        Diga o marque uno para siniestros.
        Para urgencias, marque el tres.
        Marque la extensión o espere en la línea.`),
    ],
    'hold-queue': [
      lines(`
        Todos nuestros agentes están ocupados.
        Su llamada es muy importante para nosotros.
        En este momento todos nuestros operadores están ocupados.
        Gracias por su espera.
        El tiempo de espera estimado es de cinco minutos.
        Nuestros asesores están atendiendo a otros clientes.`),
      lines(`
        Por favor, permanezca en la línea.
        Le atenderemos en orden de llegada.
        En breve será atendido por el próximo agente disponible.
        No cuelgue, por favor.
        Espere un momento y le atenderemos.
        Por favor, manténgase a la espera.`),
    ],
    screener: [
      lines(`
        Hola, la persona a la que llama usa un servicio de filtrado de llamadas.
        Hola, está hablando con el asistente de llamadas de {name}.
        Hola, soy el asistente virtual de {name}.
        La persona a la que llama filtra sus llamadas.
        Antes de conectarle,
        Hola, {name} está usando un asistente de llamadas.
        Para comunicarle con esta persona,
        Este número no acepta llamadas de números desconocidos.
        Hola, soy el asistente de Google.`),
      lines(`
        diga su nombre y el motivo de su llamada.
        por favor, indique quién llama y por qué.
        grabe su nombre y el motivo de la llamada y veré si está disponible.
        ¿puede decirme quién es y por qué llama?
        dígame quién es y de qué se trata.
        ¿cuál es el motivo de su llamada?
        por favor diga su nombre después del tono y espere.
        di tu nombre y por qué llamas.
        indique su nombre y comprobaré si puede hablar.`),
    ],
    'screener-question': [
      lines(`
        ¿Y cuál es el motivo de su llamada?
        ¿Acerca de qué es la llamada?
        ¿Es urgente?
        Gracias, espere mientras intento conectarle.`),
    ],
    announcement: [
      lines(`
        Lo sentimos.
        Telefónica le informa.
        Le informamos que
        Disculpe,
        Lo siento,
        Información gratuita.
        Atención.`),
      lines(`
        El número que usted ha marcado no existe. Compruebe el número y vuelva a llamar.
        el número marcado está fuera de servicio.
        el teléfono al que llama está apagado o fuera de cobertura en este momento.
        su llamada no puede ser completada como la marcó.
        el número que usted marcó ha cambiado. El nuevo número es {number}.
        todas las líneas están ocupadas. Intente más tarde.
        el abonado al que llama tiene las llamadas entrantes restringidas.
        actualmente no existe ninguna línea con esta numeración.
        el número al que llama no se encuentra en servicio.
        por problemas técnicos no se puede completar la llamada. Inténtelo más tarde.`),
    ],
    reply: [
      lines(`
        Sí, soy yo.
        ¿De parte de quién?
        ¿De qué se trata?
        Sí, le escucho.
        No, no está.
        ¿Perdón?
        Ahora estoy ocupado.
        Vale.
        ¿Hola? ¿Sigue ahí?
        ¿De qué empresa?`),
    ],
  },
}
