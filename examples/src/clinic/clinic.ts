import type { UnixMs } from '@parley/kernel'
import { AnswersByKey } from '../service/answers-by-key.ts'
import { CappedMap } from '../service/capped-map.ts'
import { type Service, type ServiceAnswer, type ServiceRequest, textOf } from '../service/service.ts'
import { dateAt, dateOf, datesAfter, dayName, type Slot, slotById, slotsOn, weekday } from './calendar.ts'
import { keysFor, orList } from './lists.ts'
import { named, type Selection, selected } from './selection.ts'

export interface Booking {
  readonly slot: string
  readonly patient: string
}

export interface Callback {
  /** From the call's data; null: it has none. */
  readonly number: string | null
  readonly patient: string
}

/**
 * Slots of one doctor in about four weeks: the oldest bookings are dropped, so that the calendar never runs out and its days stay near,
 * however many callers book.
 */
const MAX_BOOKINGS_PER_DOCTOR = 40
const MAX_PATIENTS = 500
const MAX_CALLBACKS = 200
const OFFERED_DAYS = 3
const FIRST_NEW_NUMBER = 4001
const MAX_NAME = 60

const KNOWN_PATIENTS = { '1042': 'Ada', '1234': 'Sam', '3141': 'Grace' }

/** The clinic's front desk: patients by number, free appointments, bookings. State is in memory. */
export class Clinic implements Service {
  readonly operations = {
    'GET /patients': (request: ServiceRequest) => this.#findPatient(request),
    'POST /patients': (request: ServiceRequest) => this.#answers.once(request, () => this.#register(request)),
    'GET /days': (request: ServiceRequest) => this.#days(request),
    'GET /times': (request: ServiceRequest) => this.#times(request),
    'GET /slot': (request: ServiceRequest) => this.#slot(request),
    'POST /bookings': (request: ServiceRequest) => this.#answers.once(request, () => this.#book(request)),
    'POST /callbacks': (request: ServiceRequest) => this.#answers.once(request, () => this.#callBack(request)),
  }
  readonly refusals = {
    unknown: 'The clinic does not know what that is.',
    unreadable: 'The clinic could not read that.',
    tooLarge: 'That is too long for the clinic.',
    broken: 'The clinic has a problem.',
  }
  readonly #wallClock: () => UnixMs
  readonly #answers = new AnswersByKey('That was asked before, in another way.')
  readonly #patients = new CappedMap<string, string>(MAX_PATIENTS)
  readonly #doctors: number
  /** By slot and doctor. */
  readonly #bookings: CappedMap<string, Booking>
  readonly #callbacks = new CappedMap<number, Callback>(MAX_CALLBACKS)
  #registered = 0
  #callbackCount = 0

  /** `doctors`: how many patients may book the same time. Default 1. */
  constructor(wallClock: () => UnixMs, doctors = 1) {
    this.#wallClock = wallClock
    this.#doctors = doctors
    this.#bookings = new CappedMap(MAX_BOOKINGS_PER_DOCTOR * doctors)
  }

  /** Oldest first. */
  get bookings(): readonly Booking[] {
    return this.#bookings.values()
  }

  get callbacks(): readonly Callback[] {
    return this.#callbacks.values()
  }

  #findPatient({ query }: ServiceRequest): ServiceAnswer {
    const { key, said } = selectionOf(query)
    const number = (key || said).replace(/\D/g, '')
    const name = this.#nameOf(number)
    return name === undefined
      ? ok({ known: false, number: '', name: '', message: 'I do not find that number.' })
      : ok({ known: true, number, name, message: `Welcome back, ${name}.` })
  }

  #nameOf(number: string): string | undefined {
    const known: Readonly<Record<string, string>> = KNOWN_PATIENTS
    return Object.hasOwn(known, number) ? known[number] : this.#patients.get(number)
  }

  #register({ body }: ServiceRequest): ServiceAnswer {
    const name = textOf(body.name).slice(0, MAX_NAME)
    const number = String(FIRST_NEW_NUMBER + this.#registered++)
    this.#patients.set(number, name)
    const spoken = [...number].join(' ')
    return { status: 201, body: { number, name, message: `Your new patient number is ${spoken}.` } }
  }

  /** `from`: the first day to offer, else tomorrow. */
  #days({ query }: ServiceRequest): ServiceAnswer {
    const given = textOf(query.get('from'))
    const from = dateOf(given)
    if (given !== '' && from === undefined) return refused('I did not understand that date.')
    const today = this.#today()
    const days: string[] = []
    for (const date of datesAfter(today)) {
      if (days.length === OFFERED_DAYS) break
      if ((from === undefined || date >= from) && this.#freeOn(date).length > 0) days.push(date)
    }
    const names = days.map(date => dayName(date, today))
    return ok({
      days: days.map((date, index) => ({ date, name: names[index] })),
      offered: days.join(),
      keys: keysFor(days.length),
      message: days.length === 0 ? 'There is nothing free.' : `I have ${orList(names)}.`,
    })
  }

  /** `offered`: the dates that were read out, between commas; then `key` or `said`. */
  #times({ query }: ServiceRequest): ServiceAnswer {
    const today = this.#today()
    const selection = selectionOf(query)
    const date =
      selected(offeredDates(query), selection, namesOfDate) ??
      // A day that was not offered: the next of that name.
      (selection.key === '' ? named(datesAfter(today), selection.said, namesOfDate) : undefined)
    if (date === undefined) return ok({ found: false, message: 'I did not find that day.' })
    const day = dayName(date, today)
    const free = this.#freeOn(date)
    if (free.length === 0) return ok({ found: false, message: `There is nothing free on ${day}.` })
    return ok({
      found: true,
      day: date,
      times: free.map(({ time, spoken }) => ({ time, spoken })),
      offered: free.map(slot => slot.time).join(),
      keys: keysFor(free.length),
      message: `On ${day} I have ${orList(free.map(slot => slot.spoken))}.`,
    })
  }

  /** `day`: a date; `offered`: the times that were read out, between commas; then `key` or `said`. */
  #slot({ query }: ServiceRequest): ServiceAnswer {
    const date = dateOf(textOf(query.get('day')))
    if (date === undefined) return ok({ found: false, message: 'I did not find that day.' })
    const offered = textOf(query.get('offered')).split(',')
    const slots = slotsOn(date).filter(slot => offered.includes(slot.time))
    const slot = selected(slots, selectionOf(query), namesOfSlot)
    if (slot === undefined) return ok({ found: false, message: 'I did not find that time.' })
    if (this.#freePlace(slot) === undefined) return ok({ found: false, message: 'That time has just gone.' })
    const name = this.#nameOfSlot(slot)
    return ok({ found: true, slot: slot.id, name, message: `${name} is free.` })
  }

  #book({ body }: ServiceRequest): ServiceAnswer {
    const slot = slotById(textOf(body.slot))
    const patient = textOf(body.patient)
    if (slot === undefined || slot.id.slice(0, 10) <= this.#today()) return refused('There is no such appointment.')
    if (this.#nameOf(patient) === undefined) return refused('I do not know that patient.')
    const place = this.#freePlace(slot)
    if (place === undefined) return { status: 409, body: { message: 'That time has just gone.' } }
    const booking = { slot: slot.id, patient }
    this.#bookings.set(place, booking)
    return { status: 201, body: { ...booking, message: `You are booked for ${this.#nameOfSlot(slot)}.` } }
  }

  /** The body is the whole call: `{name, args, call}`. */
  #callBack({ body }: ServiceRequest): ServiceAnswer {
    const call = membersOf(body.call)
    const callback = { number: textOf(call.from_number) || null, patient: textOf(membersOf(body.args).patient) }
    this.#callbacks.set(this.#callbackCount++, callback)
    return { status: 201, body: { message: 'Somebody will call you back today.' } }
  }

  #today(): string {
    return dateAt(this.#wallClock())
  }

  #freeOn(date: string): Slot[] {
    return slotsOn(date).filter(slot => this.#freePlace(slot) !== undefined)
  }

  /** The key of a booking with the first doctor who is free; undefined: all doctors are booked. */
  #freePlace(slot: Slot): string | undefined {
    for (let doctor = 1; doctor <= this.#doctors; doctor++) {
      const place = `${slot.id} ${doctor}`
      if (this.#bookings.get(place) === undefined) return place
    }
    return undefined
  }

  #nameOfSlot(slot: Slot): string {
    return `${dayName(slot.id.slice(0, 10), this.#today())} at ${slot.spoken}`
  }
}

function selectionOf(query: URLSearchParams): Selection {
  return { key: textOf(query.get('key')), said: textOf(query.get('said')) }
}

function namesOfDate(date: string): string[] {
  return [weekday(date), date]
}

function namesOfSlot({ spoken, time, half }: Slot): string[] {
  return [spoken, time, time.replace(/^0/, ''), half]
}

function offeredDates(query: URLSearchParams): string[] {
  return textOf(query.get('offered'))
    .split(',')
    .flatMap(text => dateOf(text) ?? [])
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function ok(body: ServiceAnswer['body']): ServiceAnswer {
  return { status: 200, body }
}

function refused(message: string): ServiceAnswer {
  return { status: 422, body: { message } }
}
