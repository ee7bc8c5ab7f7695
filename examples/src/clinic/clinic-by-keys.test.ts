import { describe, expect, it } from 'vitest'
import { exampleDraft } from '../io/example-drafts.ts'
import { MONDAY, Walk } from '../testing/walk.ts'
import { Clinic } from './clinic.ts'

const EXPLANATION =
  "Sorry. The hearing built into this agent understands only Parley's own phone. Please go on with the keys."
const ASK_NUMBER = '[enter] Say "Please key in your four digit patient number. If you are new here, press 0."'
const WHICH_DAY = 'I have Tuesday, Wednesday or Thursday. Which day? Or press 1, 2 or 3.'

function callClinic() {
  const clinic = new Clinic(() => MONDAY)
  const call = new Walk(exampleDraft('clinic').draft, { clinic })
  return { clinic, call }
}

describe('booking at the clinic by keys', () => {
  it('a caller whose speech is not understood is told so and books by keys alone', () => {
    const { clinic, call } = callClinic()
    expect(call.start()).toEqual(['Hello, Hillside Clinic. How can I help you? Or press 1 to book by keys.'])
    expect(call.mumbles()).toEqual([EXPLANATION, ASK_NUMBER])
    expect(call.presses('1042')).toEqual(['Welcome back, Ada.', WHICH_DAY])
    expect(call.presses('2')).toEqual(['On Wednesday I have ten fifteen or four thirty. Which time? Or press 1 or 2.'])
    expect(call.presses('1')).toEqual(['Wednesday at ten fifteen. Shall I book it? Press 1 for yes.'])
    expect(call.presses('1')).toEqual(['You are booked for Wednesday at ten fifteen. Goodbye.', '(completed)'])
    expect(clinic.bookings).toEqual([{ slot: '2026-11-25T10:15', patient: '1042' }])
  })

  it('a caller books without any speech', () => {
    const { clinic, call } = callClinic()
    call.start()
    for (const digits of ['1', '1234', '1', '2', '1']) call.presses(digits)
    expect(clinic.bookings).toEqual([{ slot: '2026-11-24T15:00', patient: '1234' }])
  })

  it('a new patient gets a number without giving a name', () => {
    const { clinic, call } = callClinic()
    call.start()
    call.presses('1')
    expect(call.presses('0')).toEqual([
      '[enter] Say "You are new here. What is your name? Or press 1 to go on without it."',
    ])
    expect(call.mumbles()).toEqual([
      "Sorry. The hearing built into this agent understands only Parley's own phone. We go on without a name, by keys.",
      'Your new patient number is 4 0 0 1.',
      WHICH_DAY,
    ])
    for (const digits of ['3', '1', '1']) call.presses(digits)
    expect(clinic.bookings.map(booking => booking.patient)).toEqual(['4001'])
  })

  it.each([
    ['Choose a day', ['1', '1042'], WHICH_DAY],
    ['Choose a time', ['1', '1042', '1'], 'On Tuesday I have nine thirty or three. Which time? Or press 1 or 2.'],
    ['Confirm', ['1', '1042', '1', '1'], 'Tuesday at nine thirty. Shall I book it? Press 1 for yes.'],
  ])('a caller who is not understood at "%s" is told to use the keys, and continues there', (_node, keys, question) => {
    const { call } = callClinic()
    call.start()
    for (const digits of keys) call.presses(digits)
    call.mumbles()
    expect(call.mumbles()).toEqual([EXPLANATION, question])
  })

  it('an unknown key, or a day without free times, is asked again', () => {
    const { call } = callClinic()
    call.start()
    call.presses('1')
    call.presses('1042')
    expect(call.presses('9')).toEqual(['I did not find that day.', WHICH_DAY])
    call.presses('1')
    expect(call.presses('7')).toEqual(['I did not find that time.', WHICH_DAY])
  })

  it('a caller who does not confirm is offered the next days again', () => {
    const { clinic, call } = callClinic()
    call.start()
    for (const digits of ['1', '1042', '1', '1']) call.presses(digits)
    expect(call.presses('2')).toEqual([WHICH_DAY])
    expect(clinic.bookings).toEqual([])
  })
})
