import { describe, expect, it } from 'vitest'
import { exampleDraft } from '../io/example-drafts.ts'
import { MONDAY, Walk } from '../testing/walk.ts'
import { Clinic } from './clinic.ts'

const WHICH_DAY = 'I have Tuesday, Wednesday or Thursday. Which day? Or press 1, 2 or 3.'
const TROUBLE = ['Our calendar does not answer right now. Please call again later. Goodbye.', '(completed)']

function callClinic() {
  const clinic = new Clinic(() => MONDAY)
  const call = new Walk(exampleDraft('clinic').draft, { clinic })
  return { clinic, call }
}

/** As far as the question for a day, as Ada. */
function callAsAda() {
  const { clinic, call } = callClinic()
  call.start()
  call.says('I would like an appointment', { choose: 'edge:book' })
  call.presses('1042')
  return { clinic, call }
}

function chooseTuesdayMorning(call: Walk) {
  call.says('Tuesday', { choose: 'edge:day' }, { read: { wanted_day: 'Tuesday' } })
  return call.says('Nine thirty', { choose: 'edge:time' }, { read: { wanted_time: 'nine thirty' } })
}

describe('a caller of the clinic who is understood', () => {
  it('books by voice; their number may come by keys', () => {
    const { clinic, call } = callClinic()
    call.start()
    call.says('I would like an appointment', { choose: 'edge:book' })
    expect(call.presses('1042')).toEqual(['Welcome back, Ada.', WHICH_DAY])
    expect(call.says('Tuesday', { choose: 'edge:day' }, { read: { wanted_day: 'Tuesday' } })).toEqual([
      'On Tuesday I have nine thirty or three. Which time? Or press 1 or 2.',
    ])
    expect(call.says('Three', { choose: 'edge:time' }, { read: { wanted_time: 'three' } })).toEqual([
      'Tuesday at three. Shall I book it? Press 1 for yes.',
    ])
    expect(call.says('Yes', { choose: 'edge:yes' })).toEqual([
      'You are booked for Tuesday at three. Goodbye.',
      '(completed)',
    ])
    expect(clinic.bookings).toEqual([{ slot: '2026-11-24T15:00', patient: '1042' }])
  })

  it('says their number, or is new and gets one', () => {
    const known = callClinic().call
    known.start()
    known.says('An appointment', { choose: 'edge:book' })
    expect(known.says('It is 3 1 4 1', { choose: 'edge:said' }, { read: { said_number: '3 1 4 1' } })).toEqual([
      'Welcome back, Grace.',
      WHICH_DAY,
    ])
    const stranger = callClinic().call
    stranger.start()
    stranger.says('An appointment', { choose: 'edge:book' })
    stranger.says('I am new', { choose: 'edge:new' })
    expect(stranger.says('Ida Signal', { read: { new_name: 'Ida Signal' } })).toEqual([
      'Your new patient number is 4 0 0 1.',
      WHICH_DAY,
    ])
    expect(stranger.flow.variable('patient_name', MONDAY)).toBe('Ida Signal')
  })

  it('counts instead of naming, or asks for a day that was not offered', () => {
    const { call } = callAsAda()
    call.says('The second one', { choose: 'edge:day' }, { read: { wanted_day: 'second' } })
    expect(call.says('Another day', { choose: 'edge:other' })).toEqual([WHICH_DAY])
    expect(call.says('Friday', { choose: 'edge:day' }, { read: { wanted_day: 'Friday' } })[0]).toMatch(/^On Friday/)
  })

  it('asks for something else in between and is asked again what was open', () => {
    const { call } = callAsAda()
    expect(call.says('When are you open?', { choose: 'global:hours' })).toEqual([
      'We are open Monday to Friday, from eight to five.',
      '[return] {{days_message}} Which day? Or press {{days_keys}}.'
        .replace('{{days_message}}', 'I have Tuesday, Wednesday or Thursday.')
        .replace('{{days_keys}}', '1, 2 or 3'),
    ])
    expect(call.nodes.at(-1)).toBe('choose_day')
  })

  it('wants a person: where nobody can be reached, somebody calls back', () => {
    const { clinic, call } = callAsAda()
    expect(call.says('A person please', { choose: 'global:person' })).toEqual([
      '(transfer to +12025550143)',
      '[enter] Say "Nobody is free to talk. Shall we call you back? Press 1 for yes."',
    ])
    expect(call.presses('1')).toEqual(['Somebody will call you back today. Goodbye.', '(completed)'])
    expect(clinic.callbacks).toEqual([{ number: '+12025550111', patient: '1042' }])
  })

  it('may decline to be called back, and goes on booking', () => {
    const { call } = callAsAda()
    call.says('A person please', { choose: 'global:person' })
    expect(call.says('No', { choose: 'edge:no' })).toEqual([WHICH_DAY])
  })
})

describe('the clinic when something goes wrong', () => {
  it('looks for other times when somebody else was faster', () => {
    const { clinic, call } = callAsAda()
    chooseTuesdayMorning(call)
    const other = new Walk(exampleDraft('clinic').draft, { clinic })
    other.start()
    for (const digits of ['1', '1234', '1', '1', '1']) other.presses(digits)
    expect(call.says('Yes', { choose: 'edge:yes' })).toEqual([
      'I could not book that time. Let me look again.',
      WHICH_DAY,
    ])
    expect(call.presses('1')).toEqual(['On Tuesday I have three. Which time? Or press 1.'])
    expect(clinic.bookings.map(booking => booking.patient)).toEqual(['1234'])
  })

  it('says so and ends when its calendar does not answer', () => {
    const { call } = callClinic()
    call.start()
    call.presses('1')
    call.isDown = true
    expect(call.presses('1042')).toEqual(TROUBLE)
  })

  it('does not say that it booked what it could not', () => {
    const { clinic, call } = callAsAda()
    chooseTuesdayMorning(call)
    call.isDown = true
    expect(call.says('Yes', { choose: 'edge:yes' })).toEqual([
      'I could not book that time. Let me look again.',
      ...TROUBLE,
    ])
    expect(clinic.bookings).toEqual([])
  })
})
