import type { AnswerPhrases } from './answer-phrases.ts'

export const SPANISH_ANSWERS: AnswerPhrases = {
  language: 'es',
  digits: 'cero uno una dos tres cuatro cinco seis siete ocho nueve diez asterisco numeral almohadilla',
  human: `
    1.2 en que puedo/podemos ayudarle/ayudarte/servirle/servirte
    1.2 en que le/te puedo/podemos ayudar/servir
    1.2 como puedo/podemos ayudarle/ayudarte
    1.2 como le/te puedo ayudar
    1.2 le atiende
    1.2 le habla
    1.2 le saluda
    0.3 mi nombre es
    0.3 soy
    0.5 que tal
    0.5 si hola
    1.0 con quien hablo/desea
    1.0 quien es
    0.6 quien habla
    0.6 quien llama
    1.0 me escucha/escuchas/oye/oyes
    0.8 hay alguien
    0.7 ^ hola hola
    0.1 ^ hola
    0.5 ^ alo
    0.8 ^ diga
    0.8 ^ digame
    0.8 diga/digame/dime
    0.8 mande
    0.1 ^ buenas
    0.2 buenos dias
    0.2 buenas tardes/noches
    0.9 al habla
    0.9 al aparato
    0.6 estoy conduciendo/manejando
    0.6 estoy en una reunion
    0.6 espere/espera un momento/segundo
    0.6 a sus ordenes
    0.5 que desea/quiere
    0.6 ^ si
    0.5 ^ bueno
    1.2 dejar un recado $
    1.2 quiere dejar
    0.8 de parte de quien
    1.2 equivocado
    1.2 se pone
    1.0 no me interesa/llamen/llame
    0.9 como dice/dices
    0.9 no le/te oigo/escucho/entiendo
    0.8 puede/puedes llamar
    0.9 no conozco
    0.9 es usted
    0.8 mi marido/mujer/esposo/esposa/hijo/hija/madre/padre/jefe
    0.8 un momento/segundo $
    0.6 un momento que
    0.8 espere/espera que
    0.9 que quiere/desea/quieres
    0.6 ^ perdone/perdona/perdon
    0.6 hola perdona/perdone
    0.9 con quien
    0.9 quien le/me llama
    0.8 me permite
    0.8 llama por
    0.6 aqui
    0.6 ^ no (se/esta/me/le/hay)
    0.6 soy yo
    0.6 no puedo hablar
    0.5 ^ como/que/quien/es
    0.4 habla
    0.9 llamo luego/despues
    1.2 quiero/quisiera/queria/querria/necesito/deseo reservar/hacer/pedir/agendar/concertar/programar/solicitar/cambiar/cancelar/anular/mover/comprar/pagar/hablar/preguntar/consultar/confirmar
    1.2 me gustaria reservar/hacer/pedir/agendar/concertar/programar/solicitar/cambiar/cancelar/anular/mover/comprar/pagar/hablar/preguntar/consultar/confirmar
    1.2 quiero/quisiera/queria/querria/necesito una/un/ayuda
    0.9 (le/les/os) llamo para/por/porque/sobre
    0.9 tengo una/un pregunta/duda/problema/cita/consulta/reserva/pedido`,
  recording: `
    1.1 la persona a/con la/el que/quien
    1.1 ^ la persona
    1.1 ^ (este/el/esta) cliente/usuario/abonado
    0.9 el/del cliente/usuario/abonado
    1.1 ^ su/tu llamada
    1.0 ^ esta/este llamada/numero/buzon/telefono/linea/contestador
    0.8 ^ este/esta es
    0.7 ^ el/la numero/telefono/linea/buzon/memoria
    1.0 ^ lo sentimos
    1.1 ^ todos nuestros/los
    1.0 ^ el tiempo
    1.0 ^ informacion
    1.0 ^ aviso
    1.0 ^ estimado/estimada
    1.0 ^ atencion
    1.0 ^ le informamos
    0.6 ^ para
    0.9 llamar/llamado/llamando/bienvenido/bienvenidos/bienvenida/contactar/comunicado + para/si/nuestro/nuestra/nuestros/su/esta/seleccione/elija/escuche/pulse/marque/oprima/presione/teclee/todos/grabamos/tenemos/tambien/for
    0.6 automatico/automatica
    0.2 su/tu llamada
    0.4 numero al/a/que
    0.3 este momento
    0.3 estos momentos
    0.8 la/el/al que llama/intenta
    0.5 abonado/usuario/suscriptor
    0.6 estimado/estimados
    0.6 recibir
    0.3 llamadas
    0.3 servicio
    0.6 ^ no podemos
    0.8 ^ en este/estos momento/momentos
    0.6 ^ usted
    0.5 ^ hola este/esta es
    0.9 ^ numero # #
    0.7 importante para nosotros
    0.6 a/en/para este numero/telefono
    0.6 su/tu llamada no
    0.3 es (muy) importante
    0.8 esta llamando a/al
    0.6 ^ hola (el/la/este/esta/lo) numero/buzon/persona/usuario/cliente/abonado/linea/telefono/contestador/memoria
    0.5 ^ nuestros/nuestro
    0.9 llamada/llamadas/conversacion/conversaciones sera/seran/puede/pueden/podra/podran/es/son/esta/estan/son + grabada/grabadas/monitoreada/grabado
    0.9 por favor escuche/seleccione/elija/pulse/marque/oprima/presione/ingrese/introduzca/digite/espere/permanezca/mantengase
    0.9 para/con mejorar/ofrecerle/brindarle/atenderle/dirigir/darle/garantizar/continuar/repetir/volver/el/fines`,
  voicemail: `
    1.0 ^ en este/estos momento/momentos no
    0.8 deje/deja su/tu
    1.1 deja/deje/dejar/dejanos/dejame/dejenos/dejeme (un/tu/su/el) (breve) mensaje
    1.1 deja/deje/dejar/dejanos/dejame/dejenos/dejeme ~ mensaje
    1.0 deja/deje/dejanos/dejame/dejenos/dejeme (tu/su) nombre
    0.9 por favor deje/deja/dejame/dejeme
    1.1 despues/luego/tras (de/del) (el/la) tono/senal/pitido/bip
    0.2 despues/luego (de) (oir/escuchar) (el/la) tono/senal
    1.1 al oir/escuchar (el/la) tono/senal
    1.1 espera/espere (a) (el/la/al) tono/senal
    1.0 grabe/graba (su/tu) mensaje
    1.0 ^ se ha comunicado
    0.7 se ha comunicado con
    0.4 llamado a
    1.0 has llamado a
    1.2 te has comunicado
    0.6 esta llamando (al/a)
    1.1 buzon de voz
    1.1 el buzon
    1.1 buzon
    1.1 contestador
    0.9 correo de voz
    0.9 casilla de mensajes
    0.9 no puedo atender/contestar/responder
    1.0 no podemos atender/contestar/responder
    0.9 no puede atender/contestar/responder
    1.0 no puedo atenderte/atenderle/contestarte/ponerme
    1.0 no podemos atenderle/atenderte
    0.3 no esta disponible
    0.8 no estoy disponible
    0.8 no estamos
    0.8 no estoy en casa
    0.6 en este momento no
    0.2 ahora (mismo) no puedo
    0.9 te/le/os llamare
    0.9 te/le devolvere/devolveremos
    0.9 le/te llamaremos
    0.9 devolvere la/tu/su llamada
    0.9 me pondre/comunicare en contacto
    0.9 lo antes posible
    0.9 en cuanto pueda
    0.9 su/tu llamada ha sido desviada/transferida/redirigida
    0.9 llamada ha sido
    0.95 ^ buzon
    0.9 este es el
    0.9 el telefono de
    0.9 sistema de mensajes
    0.5 no podemos
    0.5 no me encuentro
    0.1 disponible
    0.6 atenderte/atenderle/atender
    0.2 contestar/contesta
    0.4 mensaje
    0.4 deje/deja
    0.5 tono
    0.6 senal/pitido/bip
    0.3 fuera de
    0.6 llamarte/llamarle
    0.9 lo siento no puedo/podemos/estoy
    0.3 no puedo
    0.5 no estoy
    0.5 no puede
    0.9 escribeme/escribanos/escribame
    0.7 sus/tus datos
    0.8 tu/su recado
    0.8 dejar un recado espere
    0.5 ocupado
    0.7 de vacaciones
    0.6 y no contesto
    0.6 a mano
    0.5 mensajeria
    0.8 seguramente/probablemente
    1.2 le atiende el/un/una/nuestro
    0.9 no te/le puedo contestar/atender/responder
    0.6 ya sabes
    0.7 no tengo ~ mano
    0.7 si me llamas
    0.6 servicio de mensajeria
    1.2 broma/bromeaba
    0.9 no/ni me/te/le/os/nos encuentro/encontramos/puedo/podemos/puede/atiendo + disponible/disponibles/telefono/oficina/contestar/atender/responder/ponerme/llamada/movil
    0.9 momento/momentos no (te/le/os) podemos/estamos/me
    0.4 momento/momentos no (te/le/os) puedo/estoy
    0.9 ahora (mismo) no estamos/podemos
    0.4 ahora (mismo) no te/le/os/estoy/me
    0.9 estamos/estare ocupado/ocupada/fuera/reunido/reunida/viaje/vacaciones/ausente/durmiendo
    0.4 estoy ocupado/ocupada/fuera/reunido/reunida/viaje/vacaciones/ausente/durmiendo
    0.9 dejame/dejanos/deje/deja/dejeme/dejenos/grabe/graba/grabame/enviame/mandame/escribeme/escribe ~ mensaje/recado/nombre/numero/datos/texto/nota/whatsapp
    0.9 te/le/os/lo devolvere/devolveremos/llamaremos/contactare/respondere
    0.4 te/le/os/lo devuelvo/llamo/llamare
    0.9 lo antes/pronto/mas pronto/antes posible
    0.7 en cuanto/apenas pueda/podamos/vea/escuche/me
    0.5 hasta el/la/lunes/manana/proximo
    1.1 soy + no (me/nos/te/le/os) puedo/podemos/encuentro/encontramos/estoy/estamos/tengo
    1.1 soy + ahora (mismo) no
    1.0 soy + en este/estos/estas
    1.1 soy + estoy/estamos/estare/seguramente/probablemente
    1.1 soy + si me/no
    0.9 soy + lo siento
    1.1 soy + deja/deje/dejame/dejeme/dejanos/dejenos
    0.6 ha/has/a/esta llamado/llamando/comunicado + no/en/ahora/estoy/estamos
    0.7 has/ha comunicado con
    0.6 comunicado con
    0.3 no te/le/os puedo/podemos
    0.5 de voz
    0.8 transferida/desviada/redirigida
    0.3 llamando a
    0.5 responde en este
    0.8 numero # ~ no`,
  mailbox_unavailable: `
    1.6 buzon ~ esta lleno
    1.6 esta lleno
    1.6 no puede recibir (mas/nuevos) mensajes
    1.6 no acepta (mas/nuevos) mensajes
    1.6 no admite (mas/nuevos) mensajes
    1.6 no ha sido configurado/activado/inicializado
    1.6 no ha configurado/activado
    1.6 no esta configurado/activado
    1.6 no tiene (un) (buzon) (de) (voz) configurado/activado
    1.6 aun/todavia no ha
    1.6 aun/todavia no tiene
    1.6 no hay espacio
    1.6 memoria ~ llena
    1.6 sin configurar
    1.2 lleno
    1.2 llena
    1.2 configurado/activado
    1.2 no tiene (un) buzon
    1.2 no admite
    1.2 mas mensajes
    1.2 nuevos mensajes
    1.1 no hay espacio
    1.4 no se puede/pueden dejar
    1.6 no tiene espacio
    1.6 esta completo
    1.4 no ha creado
    1.4 buzon/contestador/memoria/casilla ~ lleno/llena/completo/completa/espacio/capacidad/configurado/activado/activa/habilitado
    1.4 no/sin (se) puede/pueden/admite/acepta/recibe/recibir/dejar ~ mensajes/recados
    1.4 no/aun/todavia (no) (ha/tiene/esta) configurado/activado/creado/habilitado`,
  ivr: `
    0.9 ^ si desea/conoce
    1.0 momento todos
    0.4 por favor escuche
    1.2 marque/oprima/pulse/presione/digite/teclee (el/la) (numero/tecla) #
    1.2 marque/oprima/pulse/presione/digite/teclee (la) (tecla) asterisco/numeral/almohadilla
    1.0 marque/digite/introduzca/ingrese/teclee (el/su/la) (numero) (de) extension/interno/cuenta/documento/cliente
    1.0 for english
    1.1 siguientes opciones
    1.1 siguiente menu
    1.1 menu principal
    1.1 opciones ~ menu
    1.1 escuche (atentamente/con) (atencion)
    1.1 nuestro menu
    1.0 seleccione
    1.0 elija
    1.0 diga o marque
    1.0 en pocas palabras
    0.9 si conoce (el/la) (numero) (de) extension
    0.8 nuestro horario
    0.8 el horario de atencion
    0.9 puede/podra ser grabada
    0.9 sera grabada
    0.9 esta siendo grabada
    0.9 llamada ~ grabada
    0.9 calidad del/de servicio
    1.0 su llamada es (muy) importante
    1.0 ^ su llamada es
    1.0 orden de llegada
    1.0 en orden de
    1.0 permanezca en (la) linea
    1.0 no cuelgue
    1.0 nuestros agentes/asesores/operadores/ejecutivos
    1.0 todos nuestros
    1.0 proximo agente/asesor disponible
    0.5 asistente virtual
    1.0 sistema automatico
    0.4 por llamar/contactar
    0.4 bienvenido/bienvenida/bienvenidos a
    0.7 marque/oprima/pulse/presione
    0.7 marquelo
    0.6 menu
    0.6 opciones/opcion
    0.6 extension
    0.6 grabada
    0.6 agentes/agente
    0.6 operadores/operador
    0.6 asesores/asesor
    0.8 tiempo de espera
    0.8 espera estimado
    0.6 en la linea
    0.7 horario
    0.7 ocupados
    0.6 para ventas/citas/reservas/urgencias
    0.6 si desea
    0.6 para continuar
    0.6 le informamos
    0.8 atendiendo
    0.6 todos nuestros
    0.5 ^ para
    0.3 espera
    0.6 nuestros/nuestro
    0.8 en la cola
    0.6 paciencia
    0.6 a la espera
    0.7 le atendera/atenderemos
    0.7 tecla
    0.4 consulta/consultas
    0.4 ocupados/ocupadas
    0.5 grabamos
    0.6 otras llamadas
    0.5 le/les damos
    0.4 si ya
    0.8 la bienvenida
    0.4 bienvenida
    0.4 de espera
    0.3 contactar con
    0.9 ^ le damos
    0.5 bienvenidos
    0.5 gracias por su
    0.3 por contactar
    0.8 en la cola
    0.6 usted es
    0.5 tambien puede
    0.6 visitarnos
    0.5 tenemos varias
    0.7 diganos
    0.6 espera estimado
    0.7 varias/siguientes/las/una opciones/opcion
    0.9 grabamos/graban/grabaremos/monitoreamos ~ llamadas/llamada
    0.8 calidad/mejorar ~ servicio/atencion
    0.9 operador/agente/agentes/asesor/asesores/operadores/ejecutivo/ejecutivos/especialista/companeros/representantes/representante ~ ocupados/atendiendo/atienden/atendera/atenderan/disponible/estan/otras/otros
    0.8 en breve/seguida/instantes/momentos le/sera/atenderemos/atendera/uno/un
    0.8 numero/lugar/posicion ~ en (la) cola/fila/espera/linea
    0.8 si ya/desea/quiere/necesita/es/conoce/tiene
    0.7 nuestro/nuestra/nuestras/nuestros horario/horarios/oficinas/oficina/web/pagina/servicio/lineas
    0.7 internet/web/www/pagina
    0.7 visitarnos/visite/consultar/consulte
    0.9 diganos/indiquenos/cuentenos/describa/diga brevemente/en/el/su/que
    0.8 teclee/digite/introduzca/ingrese/pulse/marque/oprima/presione su/el/la/uno/cero
    0.8 mantengase/permanezca/siga/espere (a) (en) (la) espera/linea
    0.9 ^ gracias por su/tu
    0.9 ^ usted es/esta/se`,
  screener: `
    1.3 diga/di/indique/indica (su/tu) nombre
    1.3 grabe/graba (su/tu) nombre
    1.3 nombre y (el) (la) (motivo/razon)
    1.3 su/tu nombre y (el)
    1.3 nombre y (por) que llama/llamas
    1.2 motivo de (su/tu/la) llamada
    1.2 razon de (su/tu/la) llamada
    1.2 el motivo por
    1.2 filtrado/filtro de llamadas
    1.2 filtra (sus/las) llamadas
    1.2 servicio de filtrado
    1.2 asistente de llamadas
    1.1 quien (es) y por que
    1.1 quien llama y por que
    1.1 digame quien
    1.1 dime quien
    1.1 por que llama/llamas
    1.1 antes de conectar/pasar/comunicar/conectarle/conectarlo/pasarle
    1.0 vere/voy (si) (a) (ver) (si) ~ disponible
    1.0 ver si ~ disponible
    1.0 comprobare si
    1.0 intentare conectar/conectarle/pasar/pasarle
    0.7 acerca de que
    0.7 de que se trata
    0.9 numeros desconocidos
    0.9 esta usando/utilizando (un)
    0.9 no es un robot
    0.9 filtrado/filtra/filtro
    0.7 asistente
    0.9 ^ para comunicarle
    0.6 su/tu nombre
    0.6 motivo
    0.9 quien llama y
    0.6 indique
    0.6 desconocidos
    0.7 quien es y
    0.9 para que asunto
    0.9 cual es el asunto
    0.9 el asunto de
    0.9 identifiquese/identifiquate
    1.2 identifiquese/identifiquate/nombre despues/tras/al
    0.9 deme/dame (su/tu) nombre
    0.7 le paso
    0.8 asistente digital/virtual
    0.9 le digo que llama
    0.4 por que
    0.7 forma automatica
    0.6 protegido
    0.6 ^ antes
    0.7 y lo que desea
    0.5 comunicarle con
    1.2 le habla un/una/el
    0.7 protegido con/por
    0.5 contesto/atiendo las
    0.5 no acepta llamadas
    1.1 presentese/presentarse/presentate
    1.0 quien es usted y/e
    0.8 diga/di/digame/dime quien
    0.8 diga/di/digame/dime que/lo/para que/desea/quiere/necesita
    0.9 anunciare/anunciaremos/anunciada
    0.8 necesito/necesita su/tu nombre
    0.7 me dice/dices/da/das su/tu nombre
    1.0 preguntare/consultare/preguntando/consultando/preguntar/vere/averiguare si/a
    0.9 preguntando
    0.9 para que llama/llamas/es
    0.8 si es una persona
    0.9 bloqueador/bloqueo/bloquea/deseadas/spam/robots/robot
    0.8 llamadas de
    0.8 que empresa
    0.7 su/tu empresa
    0.9 quien llama antes
    0.7 comprueba/comprobar/verifica/verificar quien
    0.8 antes de contestar/responder/atender/pasar/aceptar
    0.8 no conoce/reconoce/reconocemos
    0.6 atiendo/contesto/respondo
    0.8 para pasarle/pasarlo/conectarle/comunicarle/anunciar
    0.7 primero tiene/debe
    0.7 numeros nuevos/ocultos/privados
    0.8 no recibe/acepta/atiende llamadas
    0.7 mientras compruebo/intento/pregunto/consulto
    0.7 puede/quiere hablar/atenderle
    1.2 nombre/quien/empresa (es) (usted) y/e (el/la/de/que/por/para/su/lo) (motivo/asunto/razon/que/necesita/desea/llama/empresa)
    1.2 diga/digame/di/dime/indique/indica/deme/dame/grabe/necesito/preciso ~ nombre/quien ~ motivo/asunto/razon/empresa/llama/es/eres
    1.0 preguntare/comprobare/vere/consultare/averiguare/mirare/intentare/anunciare/avisare/pasare (a) (si/su/la/le/conectarle/pasarle/con)
    1.1 tras/despues/al (de) (la/el/del) tono/senal ~ diga/di/identifiquese/presentese/indique ~ quien/nombre/y
    1.0 cual es el/su motivo/asunto/razon/objeto
    0.9 de parte de quien y
    1.0 quien (le) digo/anuncio/debo ~ llama/es/y
    0.9 para que/cual asunto/motivo/llama/llamas
    0.9 filtro/filtra/filtrado/bloqueador/protegido/proteccion/bloquea ~ llamadas/llamada/numero/numeros/filtro
    0.9 contesto/atiendo/respondo/gestiono/contesta/atiende ~ llamadas/telefono de/por
    1.0 asistente digital/virtual/automatico/automatica/personal/de/inteligente
    0.9 no conoce/reconoce/tiene/recibe/acepta/admite/atiende (su/este/el) numero/llamadas/desconocidos
    0.8 antes de + conectar/pasar/contestar/atender/comunicar/aceptar/responder
    0.8 para comunicarle/pasarle/conectarle/hablar/localizar con`,
  announcement: `
    0.95 ^ su llamada no
    1.4 numero que ha/usted marcado/marco/llamado
    1.4 numero que ~ marcado
    1.4 numero marcado
    1.4 numero al que llama
    1.4 telefono al que llama
    1.4 no existe
    1.4 fuera de servicio
    1.4 no (se) (encuentra) (esta) en servicio
    1.4 ha sido desconectado
    1.4 ha sido dado de baja
    1.0 ha cambiado
    1.4 ha sido cambiado
    1.4 no puede (ser) (completarse) completada/completar/completarse
    1.4 no se puede completar
    1.4 no es posible completar
    1.4 no ha podido
    1.4 verifique el numero
    1.4 compruebe el numero
    1.4 revise el numero
    1.4 apagado
    1.4 fuera de cobertura
    1.4 fuera del area
    1.4 sin cobertura
    1.4 lineas ~ ocupadas
    1.4 no corresponde
    1.2 intentelo/intente (de) (nuevo/mas) tarde
    1.2 vuelva a intentar/intentarlo/llamar
    1.2 intente ~ mas tarde
    1.4 red ~ saturada
    1.4 problemas tecnicos
    0.7 no acepta llamadas
    1.4 restringido
    1.4 suspendido
    0.8 el numero al/que
    0.9 informa
    0.9 marcado/marco
    0.9 no existe
    0.9 en servicio
    0.9 cobertura
    0.9 restringidas
    0.9 entrantes
    1.2 completada/completar
    0.9 ^ informacion gratuita
    0.9 suspendida
    0.9 no hay ningun/ninguna
    0.9 no existe ningun/ninguna
    0.9 recibir llamadas
    0.9 conectar su/tu llamada
    0.9 se ha podido
    0.6 ^ el/la numero/telefono/linea
    0.5 lineas
    0.3 numero
    0.4 marque otra`,
}
