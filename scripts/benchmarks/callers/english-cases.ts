import { after, begin, interrupt, last, press, say } from './steps.ts'
import type { WrittenCase } from './written-case.ts'

const BOOK = say('I would like to book an appointment, please.', 'ask_number', { hears: 'patient number' })
const NUMBER = press('1042#', 'choose_day', { hears: 'which day' })
const DAY = say('Tuesday.', 'choose_time', { hears: 'which time' })
const TIME = say('The first one.', 'confirm', { hears: 'shall I book' })
const YES = last('Yes, please.', 'booked')
const NEW = say('I am new here.', 'register/ask_name', { hears: 'your name' })
/** The caller hangs up in the middle, when what the case tries is over. */
const BYE = last('Goodbye.', 'goodbye')

/** Callers of the example clinic. */
export const ENGLISH_CASES: readonly WrittenCase[] = [
  { kind: 'plain', name: 'books by voice', steps: [BOOK, NUMBER, DAY, TIME, YES] },
  {
    kind: 'plain',
    name: 'books by voice and says the number',
    steps: [BOOK, say('It is one zero four two.', 'choose_day', { hears: 'which day' }), DAY, TIME, YES],
  },
  {
    kind: 'plain',
    name: 'books by keys alone',
    steps: [
      press('1', 'ask_number', { hears: 'patient number' }),
      press('1234', 'choose_day', { hears: 'which day' }),
      press('1', 'choose_time', { hears: 'which time' }),
      press('2', 'confirm', { hears: 'shall I book' }),
      { presses: '1', pause_before_ms: 700, expect: { lands: ['booked'], hung_up: true } },
    ],
  },
  {
    kind: 'plain',
    name: 'asks for the opening hours in between',
    mayRepeat: true,
    steps: [BOOK, NUMBER, say('When are you open?', 'choose_day', { hears: 'which day' }), DAY, TIME, YES],
  },
  // Keys for one question must not answer the next.
  {
    kind: 'keys-while-speaking',
    name: 'presses 1 and says the day',
    steps: [
      BOOK,
      NUMBER,
      {
        says: 'Tuesday.',
        presses: '1',
        pause_before_ms: 700,
        expect: { lands: ['choose_time'], hears: ['which time'] },
      },
      TIME,
      YES,
    ],
  },
  {
    kind: 'keys-while-speaking',
    name: 'presses 1 and says yes at the greeting',
    steps: [
      {
        says: 'Yes, an appointment.',
        presses: '1',
        pause_before_ms: 700,
        expect: { lands: ['ask_number'], hears: ['patient number'] },
      },
      NUMBER,
      BYE,
    ],
  },
  {
    kind: 'keys-while-speaking',
    name: 'keys in the number while saying that it comes',
    steps: [
      BOOK,
      {
        says: 'My number is coming.',
        presses: '1042',
        pause_before_ms: 700,
        expect: { lands: ['choose_day'], hears: ['which day'] },
      },
      DAY,
      BYE,
    ],
  },
  {
    kind: 'keys-while-speaking',
    name: 'presses a key in the middle of the question for the number',
    steps: [BOOK, interrupt(800, { presses: '1042' }, 'choose_day', 'which day'), DAY, BYE],
  },
  {
    kind: 'keys-while-speaking',
    name: 'presses a key in the middle of the question for the day',
    steps: [BOOK, NUMBER, interrupt(2500, { presses: '2' }, 'choose_time', 'which time'), TIME, BYE],
  },
  {
    kind: 'keys-while-speaking',
    name: 'presses keys and speaks into the greeting',
    steps: [
      interrupt(1000, { presses: '1', says: 'An appointment, please.' }, 'ask_number', 'patient number'),
      NUMBER,
      BYE,
    ],
  },
  // Numbers in groups.
  {
    kind: 'number-in-groups',
    name: 'says a number in two groups',
    steps: [BOOK, begin('One zero'), after(1200, 'four two.', 'choose_day', { hears: 'which day' }), DAY, BYE],
  },
  {
    kind: 'number-in-groups',
    name: 'says a number in two groups with a longer pause',
    steps: [BOOK, begin('One zero'), after(1800, 'four two.', 'choose_day', { hears: 'which day' }), DAY, BYE],
  },
  {
    kind: 'number-in-groups',
    name: 'says a number digit by digit',
    steps: [
      BOOK,
      begin('Three.'),
      after(700, 'One.'),
      after(700, 'Four.'),
      after(700, 'One.', 'choose_day', { hears: 'which day' }),
      DAY,
      BYE,
    ],
  },
  {
    kind: 'number-in-groups',
    name: 'announces the number and says it after a pause',
    steps: [
      BOOK,
      begin('My number is'),
      after(1500, 'one two three four.', 'choose_day', { hears: 'which day' }),
      DAY,
      BYE,
    ],
  },
  {
    kind: 'number-in-groups',
    name: 'keys in a number in two groups',
    steps: [
      BOOK,
      { presses: '10', pause_before_ms: 700 },
      { silence_ms: 1200, presses: '42', expect: { lands: ['choose_day'], hears: ['which day'] } },
      DAY,
      BYE,
    ],
  },
  // Names.
  {
    kind: 'spelled-name',
    name: 'says a name after a pause',
    steps: [BOOK, NEW, begin('My name is'), after(1500, 'John Smith.', 'choose_day', { hears: 'which day' }), BYE],
  },
  {
    kind: 'spelled-name',
    name: 'spells a name in groups',
    steps: [
      BOOK,
      NEW,
      begin('My name is Ida Bell, B E'),
      after(1000, 'double L.', 'choose_day', { hears: 'which day' }),
      BYE,
    ],
  },
  {
    kind: 'spelled-name',
    name: 'says first and last name apart',
    steps: [BOOK, NEW, begin('My name is Grace'), after(900, 'Hopper.', 'choose_day', { hears: 'which day' }), BYE],
  },
  {
    kind: 'spelled-name',
    name: 'hesitates before a name',
    steps: [
      BOOK,
      NEW,
      begin('Uh, it is, um'),
      after(1200, 'my name is Ann Lee.', 'choose_day', { hears: 'which day' }),
      BYE,
    ],
  },
  // One word answers a closed question.
  { kind: 'one-word', name: 'says Tuesday', steps: [BOOK, NUMBER, DAY, BYE] },
  {
    kind: 'one-word',
    name: 'says Wednesday, eleven and yes',
    steps: [
      BOOK,
      NUMBER,
      say('Wednesday', 'choose_time', { hears: 'which time' }),
      say('First', 'confirm', { hears: 'shall I book' }),
      last('Yes', 'booked'),
    ],
  },
  {
    kind: 'one-word',
    name: 'says appointment',
    steps: [say('Appointment', 'ask_number', { hears: 'patient number' }), NUMBER, BYE],
  },
  {
    kind: 'one-word',
    name: 'says no',
    mayRepeat: true,
    steps: [BOOK, NUMBER, DAY, TIME, say('No', 'choose_day', { hears: 'which day' }), BYE],
  },
  // Hesitations.
  {
    kind: 'hesitation',
    name: 'begins with a lone uh',
    steps: [
      begin('Uh'),
      after(1500, 'I need to see a doctor.', 'ask_number', { hears: 'patient number' }),
      NUMBER,
      BYE,
    ],
  },
  {
    kind: 'hesitation',
    name: 'thinks about the day',
    steps: [
      BOOK,
      NUMBER,
      begin('Um, let me see'),
      after(2000, 'Thursday.', 'choose_time', { hears: 'which time' }),
      BYE,
    ],
  },
  {
    kind: 'hesitation',
    name: 'stops after a preposition',
    steps: [
      BOOK,
      NUMBER,
      begin('I could come on'),
      after(1300, 'Wednesday.', 'choose_time', { hears: 'which time' }),
      BYE,
    ],
  },
  {
    kind: 'hesitation',
    name: 'stops after a conjunction',
    steps: [
      begin('I have a sore throat and'),
      after(1000, 'I would like an appointment.', 'ask_number', { hears: 'patient number' }),
      BYE,
    ],
  },
  // Corrections.
  {
    kind: 'correction',
    name: 'corrects the day in the same breath',
    steps: [BOOK, NUMBER, say('Tuesday, no, sorry, Thursday.', 'choose_time', { hears: 'Thursday' }), BYE],
  },
  {
    kind: 'correction',
    name: 'corrects the day after a pause',
    steps: [BOOK, NUMBER, begin('Tuesday'), after(600, 'no, Wednesday.', 'choose_time', { hears: 'Wednesday' }), BYE],
  },
  {
    kind: 'correction',
    name: 'takes the booking back before it is made',
    mayRepeat: true,
    steps: [
      BOOK,
      NUMBER,
      DAY,
      TIME,
      say('Actually, cancel that. Another day.', 'choose_day', { hears: 'which day' }),
      BYE,
    ],
  },
  {
    kind: 'correction',
    name: 'changes the mind while the time is offered',
    mayRepeat: true,
    steps: [BOOK, NUMBER, DAY, say('I want another day, please.', 'choose_day', { hears: 'which day' }), BYE],
  },
  // Silence.
  {
    kind: 'silence',
    name: 'is silent once, then answers',
    mayRepeat: true,
    steps: [BOOK, { silence_ms: 14_000 }, NUMBER, BYE],
  },
  { kind: 'silence', name: 'is silent at the greeting', mayRepeat: true, steps: [{ silence_ms: 16_000 }, BOOK, BYE] },
  // Barge-in with content.
  {
    kind: 'barge-in',
    name: 'asks for an appointment into the greeting',
    steps: [
      interrupt(1200, { says: 'I would like to book an appointment, please.' }, 'ask_number', 'patient number'),
      NUMBER,
      BYE,
    ],
  },
  {
    kind: 'barge-in',
    name: 'names the day while the days are read out',
    steps: [
      BOOK,
      { presses: '1042#', pause_before_ms: 700 },
      interrupt(3000, { says: 'Wednesday, please.' }, 'choose_time', 'which time'),
      BYE,
    ],
  },
  {
    kind: 'barge-in',
    name: 'says yes while the appointment is read out',
    steps: [
      BOOK,
      NUMBER,
      DAY,
      { says: 'The first one.', pause_before_ms: 700 },
      interrupt(1500, { says: 'Yes, please.' }, 'booked'),
    ],
  },
  // Hang-up inside an action.
  {
    kind: 'hang-up-in-action',
    name: 'hangs up while the booking is made',
    actionMs: 3000,
    steps: [
      BOOK,
      NUMBER,
      DAY,
      TIME,
      { says: 'Yes, please.', pause_before_ms: 700, expect: { lands: ['book', 'booked'] } },
      { silence_ms: 1500, hangs_up: true },
    ],
  },
  {
    kind: 'hang-up-in-action',
    name: 'hangs up while the patient is looked up',
    actionMs: 3000,
    steps: [
      BOOK,
      { presses: '1042#', pause_before_ms: 700, expect: { lands: ['find_patient', 'is_known', 'welcome_back'] } },
      { silence_ms: 1500, hangs_up: true },
    ],
  },
]
