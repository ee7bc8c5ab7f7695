import { after, begin, interrupt, last, press, say } from './steps.ts'
import type { WrittenCase } from './written-case.ts'

const PIZZA = say('Hola, quiero pedir una pizza.', 'pedir_pizza', { hears: 'le pongo' })
const KIND = say('Una margarita, por favor.', 'pedir_tamano', { hears: 'grande' })
const SIZE = say('Grande.', 'entrega/pedir_direccion', { hears: 'dirección' })
const ORDER = say('Quiero una pizza margarita grande.', 'entrega/pedir_direccion', { hears: 'dirección' })
const ADDRESS = say('A la calle Mayor cinco.', 'confirmar', { hears: 'lo pido' })
const YES = last('Sí, perfecto.', 'pedido')
const STATE = say('¿Dónde está mi pedido?', 'pedir_numero', { hears: 'número' })
const BYE = last('Adiós.', 'adios')

/** Callers of the example pizzeria. */
export const SPANISH_CASES: readonly WrittenCase[] = [
  { kind: 'plain', name: 'orders step by step', steps: [PIZZA, KIND, SIZE, ADDRESS, YES] },
  { kind: 'plain', name: 'orders in one sentence', steps: [ORDER, ADDRESS, YES] },
  {
    kind: 'plain',
    name: 'confirms by a key',
    steps: [ORDER, ADDRESS, { presses: '1', pause_before_ms: 700, expect: { lands: ['pedido'], hung_up: true } }],
  },
  {
    kind: 'plain',
    name: 'asks for an order by keys',
    steps: [
      press('2', 'pedir_numero', { hears: 'número' }),
      press('101#', 'dar_estado', { hears: 'algo más' }),
      last('No.', 'adios'),
    ],
  },
  {
    kind: 'keys-while-speaking',
    name: 'presses 1 and says the street',
    steps: [
      ORDER,
      {
        says: 'A la calle Mayor cinco.',
        presses: '1',
        pause_before_ms: 700,
        expect: { lands: ['confirmar'], hears: ['lo pido'] },
      },
      BYE,
    ],
  },
  {
    kind: 'keys-while-speaking',
    name: 'presses 2 and asks where the order is',
    steps: [
      {
        says: '¿Dónde está mi pedido?',
        presses: '2',
        pause_before_ms: 700,
        expect: { lands: ['pedir_numero'], hears: ['número'] },
      },
      BYE,
    ],
  },
  {
    kind: 'keys-while-speaking',
    name: 'presses 2 in the greeting',
    steps: [interrupt(1000, { presses: '2' }, 'pedir_numero', 'número'), BYE],
  },
  {
    kind: 'keys-while-speaking',
    name: 'keys in the number of the order while speaking',
    steps: [
      STATE,
      {
        says: 'Es este.',
        presses: '101#',
        pause_before_ms: 700,
        expect: { lands: ['dar_estado'], hears: ['algo más'] },
      },
      BYE,
    ],
  },
  {
    kind: 'number-in-groups',
    name: 'says the number of an order in two groups',
    steps: [STATE, begin('Uno cero'), after(1200, 'uno.', 'dar_estado', { hears: 'algo más' }), BYE],
  },
  {
    kind: 'number-in-groups',
    name: 'announces the number of an order',
    steps: [STATE, begin('Mi número es'), after(1500, 'uno cero uno.', 'dar_estado', { hears: 'algo más' }), BYE],
  },
  {
    kind: 'number-in-groups',
    name: 'keys in the number of an order in two groups',
    steps: [
      STATE,
      { presses: '10', pause_before_ms: 700 },
      { silence_ms: 1000, presses: '1#', expect: { lands: ['dar_estado'], hears: ['algo más'] } },
      BYE,
    ],
  },
  {
    kind: 'spelled-name',
    name: 'says the street and then the number',
    steps: [ORDER, begin('Calle de la Princesa'), after(1200, 'número doce.', 'confirmar', { hears: 'lo pido' }), BYE],
  },
  {
    kind: 'spelled-name',
    name: 'stops before the name of the street',
    steps: [ORDER, begin('A la calle de'), after(1500, 'Alcalá veinte.', 'confirmar', { hears: 'lo pido' }), BYE],
  },
  {
    kind: 'spelled-name',
    name: 'spells the street',
    steps: [ORDER, begin('Calle Goya, G O'), after(900, 'Y A, siete.', 'confirmar', { hears: 'lo pido' }), BYE],
  },
  {
    kind: 'one-word',
    name: 'answers margarita and grande',
    steps: [
      PIZZA,
      say('Margarita', 'pedir_tamano', { hears: 'grande' }),
      say('Grande', 'entrega/pedir_direccion', { hears: 'dirección' }),
      BYE,
    ],
  },
  { kind: 'one-word', name: 'answers sí', steps: [ORDER, ADDRESS, last('Sí', 'pedido')] },
  {
    kind: 'one-word',
    name: 'answers vegetal',
    steps: [PIZZA, say('Vegetal', 'pedir_tamano', { hears: 'grande' }), BYE],
  },
  {
    kind: 'hesitation',
    name: 'begins with pues',
    steps: [begin('Pues'), after(1500, 'quiero una pizza barbacoa.', 'pedir_tamano', { hears: 'grande' }), BYE],
  },
  {
    kind: 'hesitation',
    name: 'stops after an article',
    steps: [PIZZA, begin('Quiero una'), after(1300, 'barbacoa.', 'pedir_tamano', { hears: 'grande' }), BYE],
  },
  {
    kind: 'hesitation',
    name: 'thinks about the size',
    steps: [
      PIZZA,
      KIND,
      begin('Eh, no sé'),
      after(1800, 'mediana.', 'entrega/pedir_direccion', { hears: 'dirección' }),
      BYE,
    ],
  },
  {
    kind: 'correction',
    name: 'corrects the pizza in the same breath',
    steps: [PIZZA, say('Margarita, no, mejor barbacoa.', 'pedir_tamano', { hears: 'grande' }), BYE],
  },
  {
    kind: 'correction',
    name: 'makes it small before it confirms',
    mayRepeat: true,
    steps: [ORDER, ADDRESS, say('Mejor pequeña.', 'confirmar', { hears: 'pequeña' }), BYE],
  },
  {
    kind: 'correction',
    name: 'takes another pizza before it confirms',
    mayRepeat: true,
    steps: [ORDER, ADDRESS, say('No, quiero una vegetal.', 'confirmar', { hears: 'vegetal' }), BYE],
  },
  {
    kind: 'silence',
    name: 'is silent once, then orders',
    mayRepeat: true,
    steps: [{ silence_ms: 14_000 }, PIZZA, BYE],
  },
  {
    kind: 'silence',
    name: 'is silent at the size',
    mayRepeat: true,
    steps: [PIZZA, KIND, { silence_ms: 14_000 }, SIZE, BYE],
  },
  {
    kind: 'barge-in',
    name: 'orders into the greeting',
    steps: [
      interrupt(1200, { says: 'Quiero una pizza margarita grande.' }, 'entrega/pedir_direccion', 'dirección'),
      BYE,
    ],
  },
  {
    kind: 'barge-in',
    name: 'confirms while the price is read out',
    steps: [
      ORDER,
      { says: 'A la calle Mayor cinco.', pause_before_ms: 700 },
      interrupt(2500, { says: 'Sí, perfecto.' }, 'pedido'),
    ],
  },
  {
    kind: 'hang-up-in-action',
    name: 'hangs up while the order is placed',
    actionMs: 3000,
    steps: [
      ORDER,
      ADDRESS,
      { says: 'Sí, perfecto.', pause_before_ms: 700, expect: { lands: ['pedir', 'pedido'] } },
      { silence_ms: 1500, hangs_up: true },
    ],
  },
]
