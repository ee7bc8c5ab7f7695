import { describe, expect, it } from 'vitest'
import { MONDAY } from '../testing/walk.ts'
import { slotsOn } from './calendar.ts'
import { Clinic } from './clinic.ts'

function desk(now = MONDAY, doctors = 1) {
  const clinic = new Clinic(() => now, doctors)
  const get = (path: keyof Clinic['operations'] & `GET ${string}`, query: Record<string, string> = {}) =>
    clinic.operations[path]({ ...ASKED, method: 'GET', query: new URLSearchParams(query) })
  const book = (body: Record<string, unknown>, idempotencyKey: string | null = null) =>
    clinic.operations['POST /bookings']({ ...ASKED, content: JSON.stringify(body), body, idempotencyKey })
  return { clinic, get, book }
}

const ASKED = {
  method: 'POST',
  path: '/',
  query: new URLSearchParams(),
  content: '',
  body: {},
  idempotencyKey: null,
  signature: null,
}
const TUESDAY_MORNING = { slot: '2026-11-24T09:30', patient: '1042' }

describe('the free days of the clinic', () => {
  it('the free days are the next three weekdays', () => {
    const { get } = desk()
    const { body } = get('GET /days')
    expect(body).toMatchObject({ offered: '2026-11-24,2026-11-25,2026-11-26', keys: '1, 2 or 3' })
    expect(desk().get('GET /days').body).toEqual(body)
    expect(slotsOn('2026-11-28')).toEqual([])
  })

  it('free days skip weekends, and days a week away are named by their date', () => {
    expect(desk(MONDAY + 3 * 86_400_000).get('GET /days').body.message).toBe('I have Friday, Monday or Tuesday.')
    expect(desk().get('GET /days', { from: '2026-11-30' }).body.message).toBe(
      'I have Monday November 30, Tuesday December 1 or Wednesday December 2.',
    )
  })

  it('booked days are left out', () => {
    const { get, book } = desk()
    for (const { id } of slotsOn('2026-11-24')) book({ slot: id, patient: '1042' })
    expect(get('GET /days').body.message).toBe('I have Wednesday, Thursday or Friday.')
    const times = get('GET /times', { said: 'on Tuesday', offered: '2026-11-24' })
    expect(times.body).toEqual({ found: false, message: 'There is nothing free on Tuesday.' })
  })

  it.each(['tomorrow', '2026-02-30', '2026-11-24T10:00'])('do not begin with %s', from => {
    expect(desk().get('GET /days', { from }).status).toBe(422)
  })
})

describe('choosing a time of a day', () => {
  const offered = '09:30,15:00'

  it.each([
    [{ key: '2' }, '2026-11-24T15:00'],
    [{ said: 'nine thirty, please' }, '2026-11-24T09:30'],
    [{ said: 'At 9:30' }, '2026-11-24T09:30'],
    [{ said: 'the second one' }, '2026-11-24T15:00'],
    [{ said: 'in the afternoon' }, '2026-11-24T15:00'],
  ])('a time is found by the selection %o', (selection, slot) => {
    expect(desk().get('GET /slot', { day: '2026-11-24', offered, ...selection }).body.slot).toBe(slot)
  })

  it.each([{ key: '3' }, { key: '12' }, { said: 'ninety' }, { said: '' }, { day: 'Tuesday', key: '1' }])(
    'no time is found by the selection %o',
    selection => {
      const { body } = desk().get('GET /slot', { day: '2026-11-24', offered, ...selection })
      expect(body.found).toBe(false)
    },
  )

  it('a booked time is no longer offered', () => {
    const { get, book } = desk()
    book(TUESDAY_MORNING)
    const { body } = get('GET /slot', { day: '2026-11-24', offered, key: '1' })
    expect(body).toEqual({ found: false, message: 'That time has just gone.' })
  })
})

describe('a booking', () => {
  it('a second booking for the same time is refused', () => {
    const { clinic, book } = desk()
    expect(book(TUESDAY_MORNING)).toMatchObject({
      status: 201,
      body: { message: 'You are booked for Tuesday at nine thirty.' },
    })
    expect(book({ ...TUESDAY_MORNING, patient: '1234' })).toEqual({
      status: 409,
      body: { message: 'That time has just gone.' },
    })
    expect(clinic.bookings).toEqual([TUESDAY_MORNING])
  })

  it('a repeated booking with its key gets the same answer, and the key is refused for another booking', () => {
    const { clinic, book } = desk()
    const first = book(TUESDAY_MORNING, 'k1')
    expect(book(TUESDAY_MORNING, 'k1')).toEqual(first)
    expect(book({ ...TUESDAY_MORNING, slot: '2026-11-24T15:00' }, 'k1').status).toBe(409)
    expect(clinic.bookings.length).toBe(1)
  })

  it('a refused booking does not use up its key', () => {
    const { book } = desk()
    expect(book({ ...TUESDAY_MORNING, patient: '9' }, 'k1').status).toBe(422)
    expect(book(TUESDAY_MORNING, 'k1').status).toBe(201)
  })

  it.each([
    {},
    { slot: '2026-11-24T09:31', patient: '1042' },
    { slot: '2026-11-23T09:30', patient: '1042' },
    { slot: ['2026-11-24T09:30'], patient: '1042' },
    { slot: '2026-11-24T09:30', patient: 'toString' },
  ])('a booking of %o is refused', body => {
    const { clinic, book } = desk()
    expect(book(body).status).toBe(422)
    expect(clinic.bookings).toEqual([])
  })

  it('a thousand callers in a row who take what they are offered all get an appointment within five weeks', () => {
    const { clinic, get, book } = desk()
    for (let i = 0; i < 1000; i++) {
      const { offered, keys } = get('GET /days').body
      expect(keys).toBe('1, 2 or 3')
      const day = String(offered).split(',')[1]!
      const { offered: times } = get('GET /times', { offered: String(offered), key: '2' }).body
      const { slot } = get('GET /slot', { day, offered: String(times), key: '1' }).body
      expect(book({ slot, patient: '1042' }).status).toBe(201)
      expect(Date.parse(day) - MONDAY).toBeLessThan(35 * 86_400_000)
    }
    expect(clinic.bookings.length).toBeLessThan(50)
  })

  it('as many callers as there are doctors may choose the same time at the same moment', () => {
    const { clinic, get, book } = desk(MONDAY, 20)
    for (let round = 0; round < 100; round++) {
      const { offered } = get('GET /days').body
      const day = String(offered).split(',')[1]!
      const { offered: times } = get('GET /times', { offered: String(offered), key: '2' }).body
      const { slot } = get('GET /slot', { day, offered: String(times), key: '1' }).body
      for (let caller = 0; caller < 20; caller++) expect(book({ slot, patient: '1042' }).status).toBe(201)
      expect(book({ slot, patient: '1042' }).status).toBe(409)
      expect(Date.parse(day) - MONDAY).toBeLessThan(35 * 86_400_000)
    }
    expect(clinic.bookings.length).toBeLessThan(20 * 50)
  })
})
