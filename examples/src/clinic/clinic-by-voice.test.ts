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

/** A call as the patient Ada, up to the question for a day. */
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

describe('booking at the clinic by voice', () => {
  it('a caller books by voice and may key in their patient number', () => {
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

  it('a caller says their patient number, or gets one as a new patient', () => {
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
    expect(stranger.says('Ida Bell', { read: { new_name: 'Ida Bell' } })).toEqual([
      'Your new patient number is 4 0 0 1.',
      WHICH_DAY,
    ])
    expect(stranger.flow.variable('patient_name', MONDAY)).toBe('Ida Bell')
  })

  it('a caller may choose by position, or ask for a day that was not offered', () => {
    const { call } = callAsAda()
    call.says('The second one', { choose: 'edge:day' }, { read: { wanted_day: 'second' } })
    expect(call.says('Another day', { choose: 'edge:other' })).toEqual([WHICH_DAY])
    expect(call.says('Friday', { choose: 'edge:day' }, { read: { wanted_day: 'Friday' } })[0]).toMatch(/^On Friday/)
  })

  it('a caller whose day was filled by others meanwhile is offered the days that are free now', () => {
    const { clinic, call } = callAsAda()
    for (const choices of ['1234 2 1 1', '3141 2 1 1']) {
      const other = new Walk(exampleDraft('clinic').draft, { clinic })
      other.start()
      for (const digits of ['1', ...choices.split(' ')]) other.presses(digits)
    }
    expect(clinic.bookings).toHaveLength(2)
    expect(call.says('The second one', { choose: 'edge:day' }, { read: { wanted_day: 'second' } })).toEqual([
      'There is nothing free on Wednesday.',
      'I have Tuesday, Thursday or Friday. Which day? Or press 1, 2 or 3.',
    ])
  })

  it('after a question in between the open question is asked again', () => {
    const { call } = callAsAda()
    expect(call.says('When are you open?', { choose: 'global:hours' })).toEqual([
      'We are open Monday to Friday, from eight to five.',
      '[return] {{days_message}} Which day? Or press {{days_keys}}.'
        .replace('{{days_message}}', 'I have Tuesday, Wednesday or Thursday.')
        .replace('{{days_keys}}', '1, 2 or 3'),
    ])
    expect(call.nodes.at(-1)).toBe('choose_day')
  })

  it('a caller who wants a person is offered a call back if no person is available', () => {
    const { clinic, call } = callAsAda()
    expect(call.says('A person please', { choose: 'global:person' })).toEqual([
      '(transfer to +12025550143)',
      '[enter] Say "Nobody is free to talk. Shall we call you back? Press 1 for yes."',
    ])
    expect(call.presses('1')).toEqual(['Somebody will call you back today. Goodbye.', '(completed)'])
    expect(clinic.callbacks).toEqual([{ number: '+12025550111', patient: '1042' }])
  })

  it('a caller who declines the call back continues booking', () => {
    const { call } = callAsAda()
    call.says('A person please', { choose: 'global:person' })
    expect(call.says('No', { choose: 'edge:no' })).toEqual([WHICH_DAY])
  })
})

describe('failures of the clinic', () => {
  it('other times are offered if the chosen one was booked meanwhile', () => {
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

  it('the agent apologises and ends if the calendar does not respond', () => {
    const { call } = callClinic()
    call.start()
    call.presses('1')
    call.isDown = true
    expect(call.presses('1042')).toEqual(TROUBLE)
  })

  it('the agent does not confirm a failed booking', () => {
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
