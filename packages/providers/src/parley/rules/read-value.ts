import type { Evidence, ReadingContext } from './evidence.ts'
import { isSchema, type Property, type Schema, typeOf } from './property.ts'
import { strippedAnswer } from './values/answer.ts'
import { timeIn } from './values/clock.ts'
import { dateIn } from './values/days.ts'
import { digitRuns } from './values/digit-runs.ts'
import { emailIn } from './values/emails.ts'
import { mentionedMember, mentionedMembers } from './values/members.ts'
import { nameIn } from './values/names.ts'
import { numberFor } from './values/quantities.ts'

const MIN_PHONE_DIGITS = 7
const MIN_ASKED_PHONE_DIGITS = 4

/** The value that one turn of the caller gives for the property; undefined when it gives none. */
export function readValue(property: Property, evidence: Evidence, context: ReadingContext): unknown {
  const { exchange, turn } = evidence
  const { requested, language } = context
  switch (property.kind) {
    case 'enum':
      return mentionedMember(property.schema, evidence, requested, language)
    case 'boolean':
      return truth(property, evidence, requested)
    case 'number':
      return numberFor(property, turn, exchange.digits, context)
    case 'list':
      return list(property.schema, evidence, context)
    case 'email':
      return emailIn(exchange.caller, language) ?? undefined
    case 'phone':
      return phone(evidence, context)
    case 'digits':
      return digits(property, evidence, context)
    case 'name':
      return oneName(property, nameIn(exchange.caller, requested && !turn.plain, language))
    case 'date':
      return dateIn(property.schema, evidence, context)
    case 'time':
      return timeIn(evidence, context)
    case 'text':
      return requested && !turn.plain && turn.substance > 0
        ? strippedAnswer(exchange.caller, language) || undefined
        : undefined
    case 'object':
      return undefined
  }
}

/** A "yes" or "no" to a question about the property, or a statement that affirms or negates it. */
function truth(property: Property, { turn }: Evidence, requested: boolean): boolean | undefined {
  if (requested && turn.polarity !== null) return turn.polarity === 'yes'
  const count = (stems: ReadonlySet<string>) => [...property.called].filter(stem => stems.has(stem)).length
  const enough = Math.ceil(property.called.size * 0.6)
  if (enough > 0 && count(turn.negatedStems) >= enough) return false
  return enough > 0 && count(turn.statedStems) >= enough && !turn.asks ? true : undefined
}

function list(schema: Schema, evidence: Evidence, { requested, language }: ReadingContext): unknown[] | undefined {
  const items = isSchema(schema.items) ? schema.items : {}
  if (Array.isArray(items.enum)) {
    const members = mentionedMembers(items, evidence.turn, language)
    return members.length > 0 ? members : undefined
  }
  if (!requested || evidence.turn.plain || typeOf(items) !== 'string') return undefined
  const parts = evidence.exchange.caller
    .split(/,|;| (?:and|y|e) /i)
    .map(part => strippedAnswer(part, language))
    .filter(part => part !== '')
  return parts.length > 0 ? parts.slice(0, 20) : undefined
}

function phone({ exchange, turn }: Evidence, { requested, language }: ReadingContext): string | undefined {
  const least = requested ? MIN_ASKED_PHONE_DIGITS : MIN_PHONE_DIGITS
  const keys = exchange.digits?.replace(/[^0-9]/g, '') ?? ''
  if (keys.length >= least) return keys
  const run = digitRuns(exchange.caller, turn.words, language).find(({ digits: said }) => said.length >= least)
  return run === undefined ? undefined : `${run.international ? '+' : ''}${run.digits}`
}

/** A code of digits, or of letters and digits, that was asked for or follows its name ("my order number is 12"). */
function digits(
  property: Property,
  { exchange, turn }: Evidence,
  { requested, language }: ReadingContext,
): string | undefined {
  const keys = exchange.digits?.replace(/#$/, '') ?? ''
  if (requested && keys !== '') return keys
  const named = turn.words.findIndex(word => property.about.has(word.stem))
  if (!requested && named < 0) return undefined
  const from = requested ? 0 : named
  const mixed = turn.words.slice(from).find(word => /[0-9]/.test(word.folded) && /[a-z]/.test(word.folded))
  if (mixed !== undefined) return exchange.caller.slice(mixed.start, mixed.end)
  return digitRuns(exchange.caller, turn.words, language).find(run => run.from >= from)?.digits
}

/** The part of a full name that the property asks for: first name, last name or all. */
function oneName(property: Property, name: string | null): string | undefined {
  if (name === null) return undefined
  const called = property.name.toLowerCase()
  const parts = name.split(' ')
  if (/first|given|pila/.test(called)) return parts[0]
  if (/last|sur|family|apellido/.test(called)) return parts.length > 1 ? parts.slice(1).join(' ') : parts[0]
  return name
}
