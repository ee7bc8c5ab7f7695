import type { Lexicon } from './lexicon.ts'
import { phrases } from './phrase-matcher.ts'

const OTHER_DATE = 'otro dia,otra fecha,otros dias,otras fechas,dia distinto,dia diferente,distinto dia,fecha distinta'
const OTHER_TIME = 'otra hora,otras horas,otro horario,otros horarios,hora distinta,hora diferente'

export const SPANISH: Lexicon = {
  grammar: new Set(
    phrases(`el,la,los,las,lo,un,una,unos,unas,yo,me,mi,mis,mio,mia,nos,nuestro,nuestra,tu,tus,te,ti,usted,ustedes,su,sus,se,
      le,les,ella,ellos,ellas,este,esta,esto,estos,estas,ese,esa,eso,esos,esas,aquel,es,son,soy,era,fue,ser,sido,esta,estoy,
      estan,estar,he,ha,han,haber,hay,tengo,tiene,tienen,tener,hace,hacer,hago,voy,va,van,ir,puedo,puede,pueden,poder,
      podria,de,del,a,al,en,con,por,para,sin,sobre,desde,hasta,entre,y,e,o,u,pero,si,que,como,cuando,donde,quien,cual,
      cuales,porque,pues,mas,menos,muy,ya,tambien,tampoco,no,ni,nunca,solo,algo,alguna,algun,alguno,otro,otra,otros,otras,
      cada,todo,toda,todos,todas,mismo,misma,aqui,ahi,alli,ahora,luego,favor,eh,mm,bueno,oiga,oye,mire,mira,quiero,
      quisiera,gustaria,uno,cualquier,cualquiera`),
  ),
  framing: new Set(
    phrases(`cliente,clientes,clienta,usuario,usuaria,llamante,llama,interlocutor,persona,quiere,quieren,querer,desea,desean,desear,
      necesita,necesitan,pide,piden,pregunta,preguntan,preguntar,dice,dicen,decir,dicho,dijo,da,dan,dar,dado,
      indica,indican,menciona,mencionan,solicita,solicitan,elige,eligen,elegido,escoge,escogen,expresa,responde,responder,
      contesta,contestan,prefiere,prefieren,explica,proporciona,facilita,informa,intenta,decide,habla,hablar,hablan,saber,
      gusta,gustaria,quisiera,opcion,respuesta,interesa,interesado,interesada,comenta,consulta,turno,claramente`),
  ),
  asking: new Set(phrases('pregunta,preguntan,preguntar,consulta,saber,duda')),
  wanting: new Set(
    phrases(
      'quiere,quieren,desea,desean,necesita,necesitan,pide,piden,prefiere,prefieren,solicita,gustaria,interesado,interesada,encarga,compra',
    ),
  ),
  subjects: new Set(phrases('cliente,clienta,usuario,usuaria,llamante,persona,interlocutor,quien')),
  fillers: new Set(phrases('eh,em,este,mm,ah,ay,oh,pues,bueno,a ver,mira,mire,oiga,oye,y,hombre')),
  negators: new Set(phrases('no,nunca,jamas,tampoco,sin,ni,nada,ningun,ninguna')),
  notNegated: new Set(phrases('gracias,senor,senora,senorita,yo,solo,mejor,perdon,perdone,espere,espera,prefiero,no')),
  turns: new Set(phrases('pero,sino,mejor,porque,aunque')),
  or: new Set(['o', 'u', 'ni']),
  and: new Set(['y', 'e', 'luego', 'despues']),
  yes: phrases(`si,si por favor,claro,claro que si,por supuesto,desde luego,vale,ok,okay,de acuerdo,correcto,exacto,exactamente,
    asi es,eso es,esta bien,muy bien,perfecto,bien,bueno,me parece bien,estupendo,genial,como no,por que no,no hay problema,
    sin problema,adelante,afirmativo,efectivamente,confirmo,lo confirmo,acepto,dale,venga,listo,excelente,cierto,
    seguro`),
  yesAlone: phrases('por favor,lo soy,lo es,quiero,lo quiero,tengo,soy,lo tengo,me gustaria'),
  yesAnywhere:
    phrases(`si,claro que si,por supuesto,desde luego,vale,de acuerdo,correcto,exacto,asi es,esta bien,me parece bien,
    perfecto,no hay problema,sin problema,adelante,confirmo,lo confirmo,acepto`),
  no: phrases(`no,no gracias,que no,claro que no,por supuesto que no,para nada,en absoluto,ahora no,todavia no,aun no,nunca,
    jamas,tampoco,negativo,de ninguna manera,mejor no,prefiero que no,creo que no,no es correcto,incorrecto,mal`),
  wordsOfConcepts: {
    agree: [
      phrases(`si,que si,acepta,aceptan,aceptar,confirma,confirman,confirmar,acuerdo,de acuerdo,correcto,correcta,afirma,afirmativo,
        afirmativa,afirmativamente,positivo,aprueba,asiente,conforme,bien,vale`),
      [],
    ],
    decline: [
      phrases(
        'no,que no,rechaza,rechazan,rechazar,niega,niegan,declina,negativo,negativa,negativamente,incorrecto,mal',
      ),
      phrases('cancela eso,cancelalo,cancelelo,anulalo,anulelo,dejalo,dejelo,olvidalo,olvidelo'),
    ],
    done: [
      phrases('nada mas,es todo,eso es todo,ha terminado,termina,ha acabado,nada,no mas'),
      phrases('nada mas,es todo,eso es todo,seria todo,ya esta,ya esta todo,nada,eso seria todo,he terminado,solo eso'),
    ],
    goodbye: [
      phrases('despide,despedida,despedirse,adios,colgar,cuelga,terminar la llamada,finalizar la llamada'),
      phrases('adios,hasta luego,hasta pronto,hasta manana,chao,chau,que tenga buen dia,buenas noches,nos vemos'),
    ],
    greeting: [phrases('saluda,saludan,saludar,saludo,hola'), phrases('hola,buenas,buenos dias,buenas tardes')],
    thanks: [phrases('agradece,agradecen,gracias,agradecer'), phrases('gracias,agradezco,muy amable')],
    person: [
      phrases(
        'persona,humano,humana,ser humano,agente,operador,operadora,alguien,representante,empleado,empleada,companero,encargado,encargada,responsable,persona real,asesor,asesora',
      ),
      phrases(`humano,ser humano,persona real,una persona de verdad,operador,operadora,representante,hablar con alguien,con una persona,
        hablar con un agente,un agente,con el encargado,con la encargada,con un encargado,con el responsable,encargado,
        atencion al cliente,asesor,asesora,pasame con,paseme con`),
    ],
    repeat: [
      phrases(`no entiende,no ha entendido,no entendio,no comprende,no oye,no ha oido,repetir,repita,repite,otra vez,de nuevo,
        confundido,confundida,confuso`),
      phrases(`repetir,repita,repite,repetirlo,repetirme,otra vez,de nuevo,no entiendo,no he entendido,no le entiendo,no te entiendo,
        no entendi,no he oido,no oi,no le oigo,como dice,como ha dicho,que ha dicho,perdon,perdone,no comprendo`),
    ],
    unsure: [
      phrases('no sabe,no esta seguro,no esta segura,duda,dudas,indeciso,indecisa,no recuerda,vacila'),
      phrases(
        'no se,no lo se,no estoy seguro,no estoy segura,ni idea,quizas,quiza,tal vez,a lo mejor,no recuerdo,no me acuerdo,dejeme pensar,no sabria',
      ),
    ],
    wait: [
      phrases('espera,esperar,espere,momento,un momento,mas tiempo'),
      phrases('espere,espera,un momento,un segundo,un minuto,momentito,un ratito'),
    ],
    number: [
      phrases(
        'numero,numeros,digito,digitos,cifra,cifras,codigo,pin,telefono,numero de telefono,cantidad,cuantos,cuantas',
      ),
      [],
    ],
    keys: [
      phrases(
        'pulsa,pulsan,pulsar,pulsado,marca,marcan,marcar,marcado,presiona,presionar,tecla,teclas,teclea,teclear,teclado,introduce',
      ),
      [],
    ],
    date: [phrases('fecha,fechas,dia,dia de la semana'), []],
    time: [phrases('hora,hora del dia'), []],
    'other date': [phrases(OTHER_DATE), phrases(OTHER_DATE)],
    'other time': [phrases(OTHER_TIME), phrases(OTHER_TIME)],
    name: [
      phrases(
        'nombre,nombres,nombre completo,apellido,apellidos,nombre y apellidos,se identifica,quien es,como se llama',
      ),
      [],
    ],
    email: [phrases('correo,correo electronico,email,e mail,direccion de correo'), []],
    details: [phrases('direccion,datos,dato,motivo,razon,informacion,problema,mensaje,descripcion,detalles'), []],
    anything: [
      phrases(
        'algo,algo mas,otra cosa,cualquier,cualquier cosa,cualquier otra cosa,cualquier respuesta,lo que sea,otro,otra',
      ),
      [],
    ],
    order: [
      phrases('pedir,pedido,pedidos,hacer un pedido,encargar,comprar,ordenar'),
      phrases(
        'pedir,pedido,encargar,comprar,ordenar,pido,quiero un,quiero una,quiero unos,quiero unas,quisiera un,quisiera una,queria un,queria una,pongame,ponme,deme,me pone,me da,me gustaria un,me gustaria una,quiero dos,quiero tres,queria dos,queria tres',
      ),
    ],
    succeeded: [
      phrases(
        'exito,exitoso,exitosa,correctamente,funciona,funciono,ha funcionado,se completo,completado,completada,ha ido bien,se encontro,encontrado,encontrada',
      ),
      [],
    ],
    failed: [
      phrases(
        'falla,fallo,fallado,fallan,error,errores,no funciona,no funciono,no ha funcionado,no se pudo,no se puede,no disponible,imposible,no es posible,no se encontro,no encontrado,ha ido mal',
      ),
      [],
    ],
  },
  synonyms: [
    'reservar,reserva,cita,citas,agendar',
    'cancelar,anular,cancelacion,anulacion',
    'cambiar,mover,modificar,aplazar,cambio',
    'precio,cuesta,cuestan,coste,costo,cobran,caro',
    'horario,horarios,abren,abre,abrir,cierran,cierra,cerrar,abierto,abiertos,apertura',
    'direccion,ubicacion,ubicados,donde',
    'domicilio,entrega,entregar,enviar,envio,llevar,traer',
    'recoger,recogida,recojo',
    'ayuda,ayudar',
    'pagar,pago,tarjeta,efectivo',
    'factura,recibo',
    'reparar,arreglar,averia,estropeado',
    'estado,seguimiento',
    'manana,mananas',
  ].map(group => group.split(',')),
  openQuestions: new Set(phrases('que,cual,cuales,quien,donde,cuando,por que,como,cuanto,cuantos,cuanta,cuantas')),
  questions: new Set(
    phrases('que,cual,cuales,quien,donde,cuando,por que,como,cuanto,cuantos,cuanta,cuantas,puede,pueden,tienen'),
  ),
  politeness:
    phrases(`si,claro,vale,bueno,pues,eh,por favor,es,seria,quiero,quisiera,me gustaria,mi nombre es,me llamo,soy,hola,gracias,
    a nombre de,pongame,ponme,prefiero,mejor,a ver,deme,dame,me pone,me da,quiero una,quiero un,entonces,para,el,la,los,las,
    a,en,al,ah,oh,creo que,pues mire`),
}
