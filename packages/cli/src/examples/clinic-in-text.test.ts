import { describe, expect, it, onTestFinished } from 'vitest'
import { ExampleSession } from './example-session.ts'

async function callClinic(): Promise<ExampleSession> {
  const session = await ExampleSession.open('clinic')
  onTestFinished(() => session.close())
  await session.start()
  return session
}

/** A call as the patient Ada, up to the question for a day. */
async function callAsAda(): Promise<ExampleSession> {
  const session = await callClinic()
  await session.say('I would like to book an appointment, please.')
  await session.press('1042')
  return session
}

describe('the example clinic on rules-1', () => {
  it('a caller books an appointment in plain sentences', async () => {
    const session = await ExampleSession.open('clinic')
    onTestFinished(() => session.close())
    expect(await session.start()).toBe('Hello, Hillside Clinic. How can I help you? Or press 1 to book by keys.')
    expect(await session.say('Hi, I would like to book an appointment, please.')).toBe(
      'Please key in your four digit patient number. If you are new here, press 0.',
    )
    expect(await session.say('It is one zero four two.')).toBe(
      'Welcome back, Ada. I have Tuesday, Wednesday or Thursday. Which day? Or press 1, 2 or 3.',
    )
    expect(await session.say('Wednesday would be good.')).toBe(
      'On Wednesday I have ten fifteen or four thirty. Which time? Or press 1 or 2.',
    )
    expect(await session.say('Four thirty, please.')).toBe(
      'Wednesday at four thirty. Shall I book it? Press 1 for yes.',
    )
    expect(await session.say('Yes, please.')).toBe('You are booked for Wednesday at four thirty. Goodbye.')
    expect(session.outcome).toBe('completed')
    expect(session.server.bookings).toEqual([{ slot: '2026-11-25T16:30', patient: '1042' }])
    expect(session.actions()).toEqual([
      'find_patient succeeded',
      'find_days succeeded',
      'find_times succeeded',
      'find_slot succeeded',
      'book_slot succeeded',
    ])
  })

  it.each([
    ['I need to see a doctor.', 'The second one, please.', 'The first one.', 'Sure.', '2026-11-25T10:15'],
    ['Can I get an appointment?', 'Thursday', 'Eleven', 'Yes', '2026-11-26T11:00'],
    ["I'd like to make an appointment", "Let's say Tuesday", 'At nine thirty', 'Yes please do', '2026-11-24T09:30'],
    ['Could I come and see the doctor?', 'The third one', 'In the afternoon, please', 'OK', '2026-11-26T14:15'],
    ['An appointment please', 'On Friday', 'the second', 'Yes, book it.', '2026-11-27T15:00'],
  ])('a caller books an appointment with the words "%s", "%s", "%s", "%s"', async (wish, day, time, yes, slot) => {
    const session = await callClinic()
    await session.say(wish)
    expect(session.node).toBe('ask_number')
    await session.press('1042')
    await session.say(day)
    expect(session.node).toBe('choose_time')
    await session.say(time)
    expect(session.node).toBe('confirm')
    await session.say(yes)
    expect(session.server.bookings).toEqual([{ slot, patient: '1042' }])
  })

  it('a new patient is registered by name and gets a patient number', async () => {
    const session = await callClinic()
    await session.say('I want to book an appointment')
    expect(await session.say("I don't have a number, I'm new.")).toBe(
      'You are new here. What is your name? Or press 1 to go on without it.',
    )
    expect(await session.say('My name is Ida Bell.')).toMatch(
      /^Your new patient number is 4 0 0 1\. I have Tuesday, Wednesday or Thursday\./,
    )
    for (const keys of ['1', '1', '1']) await session.press(keys)
    expect(session.server.bookings).toEqual([{ slot: '2026-11-24T09:30', patient: '4001' }])
  })

  it('a question about opening hours is answered, and the booking continues where it was', async () => {
    const session = await callAsAda()
    expect(await session.say('When are you open?')).toBe(
      'We are open Monday to Friday, from eight to five. I have Tuesday, Wednesday or Thursday. Which day? Or press 1, 2 or 3.',
    )
    await session.say('Tuesday')
    expect(session.node).toBe('choose_time')
    expect(await session.say('What are your opening hours again?')).toMatch(
      /^We are open Monday to Friday.* On Tuesday I have nine thirty or three\./,
    )
    await session.say('Three')
    expect(session.node).toBe('confirm')
  })

  it('the agent repeats its question after an unclear answer and after silence', async () => {
    const session = await callAsAda()
    expect(await session.say('Purple elephants.')).toMatch(/Which day\?/)
    expect(await session.silence()).toMatch(/Which day\?/)
    expect(session.node).toBe('choose_day')
  })

  it('a caller who does not confirm can choose another day', async () => {
    const session = await callAsAda()
    await session.say('Tuesday')
    expect(await session.say('Another day, please')).toMatch(/Which day\?/)
    await session.say('Thursday')
    await session.say('Eleven')
    expect(await session.say('No, another time.')).toMatch(/Which day\?/)
    expect(session.server.bookings).toEqual([])
  })

  it('a caller whose number is not known is asked for it again and is not registered anew', async () => {
    const session = await callClinic()
    await session.say('An appointment, please.')
    const again = 'I do not find that number. Please say or key it in again. If you are new here, press 0.'
    expect(await session.say('It is nine nine nine nine.')).toBe(again)
    expect(await session.say('I said nine nine nine nine.')).toBe(again)
    expect(await session.press('9998')).toBe(again)
    expect(await session.say('One zero four two.')).toMatch(/^Welcome back, Ada\./)
    expect(session.actions()).not.toContain('register_patient succeeded')
  })

  it('a caller who keys in an unknown number and then 0 is new', async () => {
    const session = await callClinic()
    await session.press('1')
    await session.press('9999')
    expect(await session.press('0')).toMatch(/^You are new here\./)
  })

  it('nobody is registered under words that are no name', async () => {
    const session = await callClinic()
    await session.say('An appointment, please.')
    await session.say('I am new here.')
    expect(await session.say('I said nine nine nine nine.')).toMatch(/^You are new here\. What is your name\?/)
    expect(await session.say('Grace Hopper.')).toMatch(/^Your new patient number is/)
  })

  it('a caller may choose the last of the days and times', async () => {
    const session = await callAsAda()
    expect(await session.say('The last day, please.')).toMatch(/^On Thursday I have eleven or two fifteen\./)
    expect(await session.say('The last one.')).toBe('Thursday at two fifteen. Shall I book it? Press 1 for yes.')
  })

  it.each([
    ['when the times are read out', ['Tuesday.']],
    ['when asked to confirm', ['Tuesday.', 'The first one.']],
  ])('a caller who names another day %s gets the times of that day', async (_when, said) => {
    const session = await callAsAda()
    for (const words of said) await session.say(words)
    expect(await session.say('Actually, no, Wednesday.')).toMatch(/^On Wednesday I have/)
  })

  it.each([[[]], [['Tuesday.']]])('a caller who wants nothing any more after %j is let go', async said => {
    const session = await callAsAda()
    for (const words of said) await session.say(words)
    await session.say('Actually, cancel that.')
    expect([session.node, session.outcome]).toEqual(['goodbye', 'completed'])
  })

  it('a caller who asks for a person is offered a call back', async () => {
    const session = await callAsAda()
    expect(await session.say('I want to talk to a person.')).toBe(
      'Nobody is free to talk. Shall we call you back? Press 1 for yes.',
    )
    expect(await session.say('Yes.')).toBe('Somebody will call you back today. Goodbye.')
    expect(session.server.callbacks).toEqual([{ number: '+12025550111', patient: '1042' }])
    const other = await callAsAda()
    await other.say('Can I speak to the reception?')
    expect(await other.say('No, thanks.')).toMatch(/Which day\?/)
  })

  it('a caller who says goodbye ends the call', async () => {
    const session = await callAsAda()
    expect(await session.say('Goodbye.')).toBe('Goodbye, and take care.')
    expect(session.outcome).toBe('completed')
  })
})

describe('the example clinic by keys alone', () => {
  it('a caller whom the recogniser cannot understand is told to use the keys, and books by keys', async () => {
    const session = await callClinic()
    expect(await session.say('')).toBe(
      "Sorry. The hearing built into this agent understands only Parley's own phone. Please go on with the keys. Please key in your four digit patient number. If you are new here, press 0.",
    )
    for (const keys of ['1042', '2', '1']) await session.press(keys)
    expect(session.node).toBe('confirm')
    expect(await session.press('1')).toBe('You are booked for Wednesday at ten fifteen. Goodbye.')
    expect(session.outcome).toBe('completed')
    expect(session.server.bookings).toEqual([{ slot: '2026-11-25T10:15', patient: '1042' }])
  })
})

describe('the example clinic when something goes wrong', () => {
  it('if the chosen time was taken meanwhile, the caller is offered other times', async () => {
    const session = await callAsAda()
    await session.say('Tuesday')
    await session.say('Nine thirty')
    const taken = await fetch(`${session.server.origin}/clinic/bookings`, {
      method: 'POST',
      body: JSON.stringify({ slot: '2026-11-24T09:30', patient: '1234' }),
    })
    expect(taken.status).toBe(201)
    expect(await session.say('Yes')).toBe(
      'I could not book that time. Let me look again. I have Tuesday, Wednesday or Thursday. Which day? Or press 1, 2 or 3.',
    )
    expect(session.actions()).toContain('book_slot failed')
    await session.say('Tuesday again')
    await session.say('Three')
    await session.say('Yes')
    expect(session.server.bookings.map(booking => booking.slot)).toEqual(['2026-11-24T09:30', '2026-11-24T15:00'])
  })

  it('if the server of the clinic is down, the agent says so and ends the call', async () => {
    const session = await callClinic()
    await session.say('I want an appointment')
    await session.server.close()
    expect(await session.press('1042')).toBe(
      'Our calendar does not answer right now. Please call again later. Goodbye.',
    )
    expect(session.actions()).toEqual(['find_patient failed'])
    expect(session.outcome).toBe('completed')
  })
})
